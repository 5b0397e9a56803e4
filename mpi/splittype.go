package mpi

import (
	"encoding/binary"
	"slices"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/sys"
)

// CommType says by what SplitType splits.
//
// C: MPI_COMM_TYPE_SHARED and so on, section 7.4.2.
type CommType int

// The types of SplitType. CommTypeShared: who can share memory, so that WinAllocateShared
// works: the processes of a host, but each alone where all traffic goes over sockets
// (halo run -fabric tcp). CommTypeHwGuided and CommTypeResourceGuided: who runs on the same piece
// of hardware of the type that HwResourceType names: one of the keys of GetHwResourceInfo,
// of which hwloc://Machine is the host, or mpi_shared_memory, which is CommTypeShared.
// CommTypeHwUnguided: the largest type of hardware that splits at all.
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
	// sharedMemory and machine are the types of level 0: who can share memory, and a host.
	// The two differ where the processes of a host share none.
	sharedMemory = "mpi_shared_memory"
	machine      = scheme + "Machine"
	// scheme comes before hwloc's names of types, as in the standard's examples.
	scheme = "hwloc://"
)

// SplitType splits the communicator by what processes share, in the order of key
// and then of rank. It returns nil in a process that passes Undefined, one that
// may run on several pieces of the hardware (see halo run -bind), where the hints
// name no type that is known, and everywhere if CommTypeHwUnguided finds nothing
// that splits. With CommTypeHwUnguided an Info among the hints is given the key
// mpi_hw_resource_type, by which guided splits would be the same. Collective over
// c, with the same kind but for Undefined.
//
// C: MPI_Comm_split_type, section 7.4.2.
func (c *Comm) SplitType(kind CommType, key int, hints ...SplitHint) (*Comm, error) {
	if err := c.usable(callSplitType); err != nil {
		return nil, err
	}
	checkKeys(c, callSplitType, hints...)
	mine := sharer{kind: kind, key: int64(key), level: -1}
	host := int64(hostOf(c.w.Proc.Job()))
	switch kind {
	case CommTypeShared:
		mine.level, host = 0, c.memoryOf(host)
	case CommTypeHwGuided, CommTypeResourceGuided:
		switch name := resourceOf(hints); name {
		case sharedMemory:
			mine.level, host = 0, c.memoryOf(host)
		case machine:
			mine.level = 0
		default:
			mine.level = int64(slices.Index(resourceNames(), name))
		}
	case CommTypeHwUnguided:
		if c.memoryOf(host) != host {
			mine.level = apart
		}
	case Undefined:
	default:
		return nil, fail(ErrArg, callSplitType.String(), c, "split type %d is not defined", int(kind))
	}
	mine.at = append(mine.at, host)
	for _, p := range sys.Places() {
		mine.at = append(mine.at, int64(p.Instance))
	}
	split := ""
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
	d, err := c.created(callSplitType, core, err)
	for _, h := range hints {
		if info, ok := h.(*Info); ok && info != nil && split != "" && err == nil {
			err = info.Set(resourceKey, split)
		}
	}
	return d, err
}

// HwResourceType is the type of hardware that a guided SplitType splits by.
//
// C: info key mpi_hw_resource_type, section 7.4.2.
type HwResourceType string

func (v HwResourceType) splitHint(resource *string) { *resource = string(v) }

func (i *Info) splitHint(resource *string) {
	if v, found := i.Get(resourceKey); found {
		*resource = v
	}
}

// resourceOf is the type of hardware that hints name, "" if they name none.
func resourceOf(hints []SplitHint) (name string) {
	for _, h := range hints {
		if h != nil {
			h.splitHint(&name)
		}
	}
	return name
}

// GetHwResourceInfo tells which types of hardware the system shows: the keys, for
// SplitType. The value is "true" if this process may run on one piece of it only,
// else "false".
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

// resourceNames are the types by which SplitType can split, from large to small.
func resourceNames() []string {
	names := []string{sharedMemory}
	for _, k := range sys.Kinds() {
		names = append(names, scheme+k)
	}
	return names
}

// memoryOf numbers the memory that this process shares with others: by the host, or, if
// its fabric is memory to nobody, in a way of its own.
func (c *Comm) memoryOf(host int64) int64 {
	job := c.w.Proc.Job()
	if c.w.Proc.Node() != nil || len(job.Local) == 1 {
		return host
	}
	return int64(job.Size + job.Rank) // hosts are fewer than processes
}

// hostOf numbers the host of this process.
func hostOf(job *boot.Job) int {
	if len(job.Host) == job.Size {
		return int(job.Host[job.Rank])
	}
	return job.Local[0]
}

// sharer is what a member says of itself in SplitType.
type sharer struct {
	kind  CommType
	level int64   // index of the type of hardware to split by, -1 for none
	key   int64   // order
	at    []int64 // by type of hardware: the piece of it, the first is the host, or what memory is shared
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

// same reports whether a and b share a piece of hardware of a type: on one host.
func (s *sharer) same(o *sharer, level int) bool {
	return s.at[level] >= 0 && s.at[0] == o.at[0] && s.at[level] == o.at[level]
}

// sharers computes the group of the member me from what all members have said:
// their ranks in order, and by which type of hardware. All members compute alike.
func sharers(all []byte, me int) (ranks []int, level int, err error) {
	width := 8 * (3 + len(resourceNames()))
	var list []sharer // those who take part
	var rank []int
	var own *sharer
	for r := range len(all) / width {
		s := decodeSharer(all[r*width : (r+1)*width])
		if s.kind == Undefined {
			continue
		}
		list, rank = append(list, s), append(rank, r)
		if s.kind != list[0].kind {
			return nil, 0, &class.Error{Class: class.Arg, Text: "members give different split types"}
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

// apart is the level that a process names to an unguided split if it shares no memory with
// others of its host: then to split by hosts is not to split by memory.
const apart = -2

func anyApart(all []byte) bool {
	width := 8 * (3 + len(resourceNames()))
	for ; len(all) > 0; all = all[width:] {
		if s := decodeSharer(all[:width]); s.kind == CommTypeHwUnguided && s.level == apart {
			return true
		}
	}
	return false
}

// splitting is the largest type of hardware of which not all use the same piece,
// and somebody a piece at all; -1 if there is none.
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
