package mpi

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// CommType is the criterion by which SplitType splits.
//
// C: MPI_COMM_TYPE_SHARED and so on, section 7.4.2.
type CommType int

// The criteria of SplitType.
//
// CommTypeShared groups processes that can share memory, so that WinAllocateShared works: the
// processes of a host, of whatever jobs, or each process alone if all communication goes over
// sockets (halo run -fabric tcp).
//
// CommTypeHwGuided and CommTypeResourceGuided group processes that run on the same piece of
// hardware, of the type that HwResourceType names. It is one of the keys of GetHwResourceInfo,
// where hwloc://Machine is the host, or mpi_shared_memory, which is the same as CommTypeShared.
// With CommTypeResourceGuided the hint may be PsetName instead.
//
// CommTypeHwUnguided uses the largest type of hardware that splits the communicator at all.
//
// C: MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_HW_GUIDED and MPI_COMM_TYPE_RESOURCE_GUIDED, section 7.4.2.
const (
	CommTypeShared         CommType = 221
	CommTypeHwUnguided     CommType = 222
	CommTypeHwGuided       CommType = 223
	CommTypeResourceGuided CommType = 224
)

const (
	// resourceKey is the info key that names a type of hardware.
	resourceKey = "mpi_hw_resource_type"
	// psetKey is the info key that names a process set.
	psetKey = "mpi_pset_name"
	// sharedMemory and machine are the types of level 0: processes that can share memory, and
	// the processes of a host. They differ if the processes of a host cannot share memory.
	sharedMemory = "mpi_shared_memory"
	machine      = scheme + "Machine"
	// scheme is the prefix of hwloc's names of types, as in the standard's examples.
	scheme = "hwloc://"
)

// SplitType splits the communicator by what processes share. Ranks in the new communicators are
// in the order of key, then of the rank in c. It returns nil in a process that passes Undefined,
// that may run on several pieces of the hardware (see halo run -bind), or whose hints name no
// known type, or a process set of which it is no member; and in all processes if kind is CommTypeHwUnguided and no type of hardware splits
// the communicator. If kind is CommTypeHwUnguided, SplitType sets the key mpi_hw_resource_type
// of an Info among the hints to the type with which a guided split gives the same result.
// ErrInfo in all members if hints of CommTypeResourceGuided name a type of hardware and a process set.
// Collective over c: all members pass the same kind or Undefined.
//
// C: MPI_Comm_split_type, section 7.4.2.
func (c *Comm) SplitType(kind CommType, key int, hints ...SplitHint) (*Comm, error) {
	if err := c.usable(call.CommSplitType); err != nil {
		return nil, err
	}
	checkKeys(c, call.CommSplitType, hints...)
	mine := sharer{kind: kind, key: int64(key), level: -1}
	host := c.hostNumber()
	switch kind {
	case CommTypeShared:
		mine.level, host = 0, c.memoryOf(host)
	case CommTypeHwGuided, CommTypeResourceGuided:
		o := optionsOf(hints)
		switch {
		case kind == CommTypeResourceGuided && o.pset != "" && o.resource != "":
			mine.level = ambiguous
		case kind == CommTypeResourceGuided && o.pset != "":
			if set, member := c.setNumber(o.pset); member {
				mine.level, host = 0, set
			}
		case o.resource == sharedMemory:
			mine.level, host = 0, c.memoryOf(host)
		case o.resource == machine:
			mine.level = 0
		default:
			mine.level = int64(slices.Index(resourceNames(), o.resource))
		}
	case CommTypeHwUnguided:
		if c.memoryOf(host) != host {
			mine.level = apart
		}
	case Undefined:
	default:
		return nil, fail(ErrArg, call.CommSplitType, c, "split type %d is not defined", int(kind))
	}
	mine.at = append(mine.at, host)
	for _, p := range sys.Places() {
		mine.at = append(mine.at, int64(p.Instance))
	}
	split := ""
	defer c.core.Begin(call.CommSplitType)()
	core, err := c.w.Coll.SplitBy(c.core, mine.encode(), func(all []byte) ([]int, error) {
		ranks, level, err := sharers(all, c.core.Whole().Rank)
		if kind == CommTypeHwUnguided && ranks != nil {
			split = resourceNames()[level]
			if level == 0 && anyApart(all) {
				split = machine
			}
		}
		return ranks, err
	})
	d, err := c.created(call.CommSplitType, core, err)
	for _, h := range hints {
		if info, ok := h.(*Info); ok && info != nil && split != "" && err == nil {
			err = info.Set(resourceKey, split)
		}
	}
	return d, err
}

// HwResourceType is the type of hardware by which a guided SplitType splits.
//
// C: info key mpi_hw_resource_type, section 7.4.2.
type HwResourceType string

func (v HwResourceType) splitHint(o *splitOptions) { o.resource = string(v) }

// PsetName is the process set by which SplitType splits with CommTypeResourceGuided: one of
// Session.Psets. The members of the set that pass its name get a communicator, all others nil. The set
// PsetSelf is another one in each process, and PsetWorld is one for each job.
//
// C: info key mpi_pset_name, section 7.4.2.
type PsetName string

func (v PsetName) splitHint(o *splitOptions) { o.pset = string(v) }

// splitOptions is the hints for SplitType; "" is none.
type splitOptions struct{ resource, pset string }

func (i *Info) splitHint(o *splitOptions) {
	if v, found := i.Get(resourceKey); found {
		o.resource = v
	}
	if v, found := i.Get(psetKey); found {
		o.pset = v
	}
}

func optionsOf(hints []SplitHint) (o splitOptions) {
	for _, h := range hints {
		if h != nil {
			h.splitHint(&o)
		}
	}
	return o
}

// setNumber is a number for the process set with that name, and whether this process is a member. Processes
// have the same number if they name the same set: by its members, since names mean other sets in other
// jobs, and mpi://SELF in each process.
func (c *Comm) setNumber(name string) (number int64, member bool) {
	job := c.w.Proc.Job()
	members := pset(job, name)
	if !slices.Contains(members, int32(job.Rank)) {
		return 0, false
	}
	for _, canonical := range []string{PsetWorld, PsetSelf} {
		if strings.EqualFold(name, canonical) {
			name = canonical
		}
	}
	return hashed(fmt.Sprint("process set ", job.ID, " ", name, members)), true
}

// GetHwResourceInfo returns the types of hardware that the operating system reports, as keys
// that SplitType accepts. The value of a key is "true" if this process may run on only one piece
// of that hardware, else "false".
//
// C: MPI_Get_hw_resource_info, section 9.1.2.
func GetHwResourceInfo() *Info {
	i := NewInfo()
	i.keys = append(i.keys, machine)
	i.values[machine] = "true"
	for _, p := range sys.Places() {
		v := "false"
		if p.Instance >= 0 {
			v = "true"
		}
		i.keys = append(i.keys, scheme+p.Kind)
		i.values[scheme+p.Kind] = v
	}
	return i
}

// resourceNames are the types by which SplitType can split, from the largest to the smallest.
func resourceNames() []string {
	names := []string{sharedMemory}
	for _, k := range sys.Kinds() {
		names = append(names, scheme+k)
	}
	return names
}

// severalJobs reports whether members are of several jobs. All members agree.
func (c *Comm) severalJobs() bool {
	return c.w.Proc.Foreign(c.core.Whole().Members) >= 0 && !planted.HostsOfTheOwnJob
}

// hostNumber is a number for the host of this process: of those of its job or, if the members are of several jobs,
// which number their hosts differently, of all there are.
func (c *Comm) hostNumber() int64 {
	if !c.severalJobs() {
		return int64(hostOf(c.w.Proc.Job()))
	}
	name, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		host, _ := os.Hostname()
		name = []byte(host)
	}
	return hashed(string(name))
}

// memoryOf is a number for the set of processes that share memory with this process: the number
// of the host, or a unique one if its fabric shares no memory. If the members are of several jobs, it is a number
// for the processes that find memory of each other.
func (c *Comm) memoryOf(host int64) int64 {
	job := c.w.Proc.Job()
	shares := c.w.Proc.Node() != nil || len(job.Local) == 1
	switch {
	case c.severalJobs() && c.w.Proc.SharesForeign():
		if domain, err := pair.Domain(); err == nil {
			return hashed(fmt.Sprint("domain ", domain))
		}
		fallthrough
	case c.severalJobs() && shares:
		return hashed(fmt.Sprint(job.ID, " host ", hostOf(job)))
	case c.severalJobs():
		return hashed(fmt.Sprint(job.ID, " process ", job.Rank))
	case shares:
		return host
	}
	return int64(job.Size + job.Rank) // there are fewer hosts than processes
}

// hashed is a number for a text, at least 0.
func hashed(text string) int64 {
	h := fnv.New64a()
	io.WriteString(h, text)
	return int64(h.Sum64() >> 1)
}

// hostOf is a number for the host of this process.
func hostOf(job *boot.Job) int {
	if len(job.Host) == job.Size {
		return int(job.Host[job.Rank])
	}
	return job.Local[0]
}

// sharer is the contribution of a member to SplitType.
type sharer struct {
	kind  CommType
	level int64   // index of the type of hardware to split by, -1 for none
	key   int64   // order
	at    []int64 // for each type of hardware the number of the piece; the first is the host, the shared memory, or the process set
}

func (s *sharer) encode() []byte {
	var b []byte
	for _, v := range append([]int64{int64(s.kind), s.level, s.key}, s.at...) {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func decodeSharer(b []byte) sharer {
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	s := sharer{kind: CommType(word(0)), level: word(1), key: word(2)}
	for i := 3; i < len(b)/8; i++ {
		s.at = append(s.at, word(i))
	}
	return s
}

// same reports whether a and b, on one host, share a piece of hardware of the type level.
func (s *sharer) same(o *sharer, level int) bool {
	return s.at[level] >= 0 && s.at[0] == o.at[0] && s.at[level] == o.at[level]
}

// sharers computes the group of the member me from the contributions of all members: the ranks
// in order, and the type of hardware. All members compute the same.
func sharers(all []byte, me int) (ranks []int, level int, err error) {
	width := 8 * (3 + len(resourceNames()))
	var list []sharer // members that do not pass Undefined
	var rank []int
	var own *sharer
	for r := range len(all) / width {
		s := decodeSharer(all[r*width : (r+1)*width])
		if s.kind == Undefined {
			continue
		}
		list, rank = append(list, s), append(rank, r)
		if s.kind != list[0].kind {
			return nil, 0, class.Errorf(class.Arg, "members give different split types")
		}
		if s.level == ambiguous {
			return nil, 0, &class.Error{Class: class.Info, Text: "hints with both " + resourceKey + " and " + psetKey + ", of which a split takes one"}
		}
	}
	if i := slices.Index(rank, me); i >= 0 {
		own = &list[i]
	}
	if own == nil {
		return nil, 0, nil
	}
	level = int(own.level)
	if own.kind == CommTypeHwUnguided {
		level = splitting(list)
	}
	if level < 0 {
		return nil, 0, nil
	}
	keys := map[int]int64{}
	for i := range list {
		s := &list[i]
		if own.same(s, level) && (s.level == own.level) {
			ranks = append(ranks, rank[i])
			keys[rank[i]] = s.key
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int {
		switch {
		case keys[a] < keys[b]:
			return -1
		case keys[a] > keys[b]:
			return 1
		}
		return 0
	})
	return ranks, level, nil
}

// apart is the level that a process sends to an unguided split if it shares no memory with other
// processes of its host: then splitting by hosts differs from splitting by memory.
const apart = -2

// ambiguous is the level that a process sends if its hints name a type of hardware and a process set.
const ambiguous = -3

func anyApart(all []byte) bool {
	width := 8 * (3 + len(resourceNames()))
	for ; len(all) > 0; all = all[width:] {
		if s := decodeSharer(all[:width]); s.kind == CommTypeHwUnguided && s.level == apart {
			return true
		}
	}
	return false
}

// splitting is the largest type of hardware of which not all members use the same piece and at
// least one member uses only one piece; -1 if there is none.
func splitting(list []sharer) int {
	for level := range list[0].at {
		together, somebody := true, false
		for i := range list {
			together = together && list[0].same(&list[i], level)
			somebody = somebody || list[i].at[level] >= 0
		}
		if !together && somebody {
			return level
		}
	}
	return -1
}
