package proc

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/planted"
)

// ID is the identity of a process, which no other process of any job has. The process itself
// does not use it in operations: it calls each process that it has met by a number of its own,
// and translates numbers that travel (AppendIDs, NumbersOf).
//
// The processes of the own job have their index as number. Those of other jobs have the numbers
// from the size of the job on, in the order in which this process meets them, so two processes
// call a third one by different numbers.
type ID struct {
	Job   string // boot.Job.ID
	Index int    // in the job
}

// JobsMax is the largest number of other jobs whose processes a process can meet.
const JobsMax = 1 << 12

// Identity returns the identity of a process.
func (p *Proc) Identity(number int) ID {
	if number < p.job.Size {
		return ID{p.job.ID, number}
	}
	o := &p.others.list[number-p.job.Size]
	if !o.met {
		return ID{} // it has been forgotten
	}
	return ID{p.others.jobs[o.job].id, int(o.index)}
}

// Brief is the identity of a process in 32 bits, for handles that travel and have no room for the name of a
// job: the index is the lower half, and a hash of the job the upper one. Two processes of one job have different
// ones; two of different jobs that have the same index have the same one with probability 2^-16. So a Brief
// tells mistakes from what is right, and proves nothing.
func (p *Proc) Brief(number int) uint32 {
	id := p.Identity(number)
	if planted.BriefOfTheIndex {
		return uint32(id.Index)
	}
	h := fnv.New32a()
	h.Write([]byte(id.Job))
	return h.Sum32()&^(boot.MaxRanks-1) | uint32(id.Index)
}

// Foreign returns the place of the first of some processes that is of another job, -1 if there is
// none. A process knows the hosts of its own job only, so what follows from hosts must be the same
// at all members: it applies where Foreign is -1, which all members of a communicator agree on.
func (p *Proc) Foreign(members []int32) int {
	for i, m := range members {
		if int(m) >= p.job.Size {
			return i
		}
	}
	return -1
}

// Before reports whether process a comes before process b in the order of all processes, which all
// processes agree on: by job and then by index.
func (p *Proc) Before(a, b int) bool {
	x, y := p.Identity(a), p.Identity(b)
	return x.Job < y.Job || x.Job == y.Job && x.Index < y.Index
}

// AppendIDs appends a list of processes as it travels:
//
//	jobs uint32, each: length uint16, bytes | processes uint32, each: job uint32, index uint32
func (p *Proc) AppendIDs(b []byte, numbers []int32) []byte {
	le := binary.LittleEndian
	var jobs []string
	place := make(map[string]uint32)
	for _, n := range numbers {
		if id := p.Identity(int(n)); len(jobs) == 0 || jobs[len(jobs)-1] != id.Job {
			if _, listed := place[id.Job]; !listed {
				place[id.Job] = uint32(len(jobs))
				jobs = append(jobs, id.Job)
			}
		}
	}
	b = le.AppendUint32(b, uint32(len(jobs)))
	for _, j := range jobs {
		b = append(le.AppendUint16(b, uint16(len(j))), j...)
	}
	b = le.AppendUint32(b, uint32(len(numbers)))
	for _, n := range numbers {
		id := p.Identity(int(n))
		b = le.AppendUint32(le.AppendUint32(b, place[id.Job]), uint32(id.Index))
	}
	return b
}

// IDsMax is the length in bytes of the longest list of processes that this process can know.
func (p *Proc) IDsMax() int {
	return 8 + 8*p.Known() + (1+len(p.others.jobs))*(2+frame.MaxText)
}

// DecodeIDs decodes a list of processes from AppendIDs. It refuses lists in which one appears twice.
func DecodeIDs(b []byte) ([]ID, error) {
	r := frame.Body{Left: b}
	jobs := make([]string, 0, 1)
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		jobs = append(jobs, r.Text())
	}
	count := r.U32()
	if r.Bad || uint64(count)*8 != uint64(len(r.Left)) {
		return nil, fmt.Errorf("a list of processes of %d bytes that does not decode", len(b))
	}
	ids, seen := make([]ID, count), make(map[ID]bool, count)
	for i := range ids {
		job, index := r.U32(), r.U32()
		if job >= uint32(len(jobs)) {
			return nil, fmt.Errorf("a list of processes of %d jobs with one of job %d", len(jobs), job)
		}
		id := ID{jobs[job], int(index)}
		if seen[id] {
			return nil, fmt.Errorf("process %d of job %q is listed twice", id.Index, id.Job)
		}
		ids[i], seen[id] = id, true
	}
	return ids, nil
}

// NumbersOf returns the local numbers of a list of processes that another process has sent. It
// refuses processes that this process has not met, and lists in which one appears twice.
func (p *Proc) NumbersOf(b []byte) ([]int32, error) {
	ids, err := DecodeIDs(b)
	if err != nil {
		return nil, err
	}
	numbers := make([]int32, len(ids))
	for i, id := range ids {
		n := p.Number(id)
		if n < 0 {
			return nil, fmt.Errorf("process %d of job %q, which this process has not met", id.Index, id.Job)
		}
		numbers[i] = int32(n)
	}
	return numbers, nil
}

// ContextStep is how many consecutive ids belong to a communicator; package comm defines their
// use.
const ContextStep = 8

// Serials of the contexts that exist from the start.
const (
	worldSerial = 1 + iota // of process 0 of the job
	selfSerial
	lastSerial // of process 0 of the job
	firstSerial
)

// Context returns the first id of the context that a process has made with a serial number.
//
// Two contexts must differ if any process can ever be in both of their communicators. A frame has
// 64 bits for the id, too few for job, index and serial number side by side. Therefore the id is
// a hash of the three: among a million communicators of one process, two have the same id with
// probability 2^-21. A process that announces a context sends the serial number, and the receivers
// compute the id from the proved identity of the sender. So a process can neither choose an id
// nor name one that another process has made, short of inverting SHA-256.
//
// Rejected: a range of numbers for each job, which needs an authority that all jobs ask before
// they meet; and ids that differ at each member, as with one table of free ids for each process,
// which need a look-up for each message.
func (id ID) Context(serial uint64) uint64 {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 64), serial)
	session := serial & sessionBit
	if planted.ContextOfNobody {
		id = ID{}
	}
	b = append(binary.LittleEndian.AppendUint32(b, uint32(id.Index)), id.Job...)
	return context(b, session)
}

// sessionBit is set in the serial numbers and ids of contexts of communicators that descend from
// a session, and in those of the world model it is not. A process whose world model has ended
// drops what arrives for that one alone.
const sessionBit = 1 << 63

// InSession reports whether a context is of a communicator that descends from a session.
func InSession(ctx uint64) bool { return ctx&sessionBit != 0 }

// context is the id of what b describes, with or without the bit of a session.
func context(b []byte, session uint64) uint64 {
	sum := sha256.Sum256(b)
	return max(binary.LittleEndian.Uint64(sum[:])&^sessionBit/ContextStep, 1)*ContextStep | session
}

// GroupContext returns the first id of the context in which processes agree on a communicator
// without having one: a hash of the processes in their order, of a tag, and of the purpose. All
// compute it, so calls with different tags at the same time do not mix. Any process can compute
// it, but messages match by their sender, too, which is proved.
func (p *Proc) GroupContext(purpose byte, tag string, members []int32) uint64 {
	b := binary.LittleEndian.AppendUint32([]byte{'g', 'r', 'o', 'u', 'p', purpose}, uint32(len(tag)))
	if !planted.TagIgnored {
		b = append(b, tag...)
	}
	return context(p.AppendIDs(b, members), sessionBit)
}

// NewContext returns a context that no other process of any job and no earlier call has returned,
// and its serial number. session says whether it is for a communicator that descends from a
// session.
func (p *Proc) NewContext(session bool) (serial, ctx uint64) {
	serial = firstSerial + p.serials
	if session {
		serial |= sessionBit
	}
	p.serials++
	return serial, p.Identity(p.job.Rank).Context(serial)
}

// ContextOf returns the context that another process has made with a serial number; ok is false
// if NewContext of that process has never returned the number.
func (p *Proc) ContextOf(process int, serial uint64) (ctx uint64, ok bool) {
	return p.Identity(process).Context(serial), serial&^sessionBit >= firstSerial
}

// WorldContext is the context of the communicator of all processes of the job.
func (p *Proc) WorldContext() uint64 { return p.Identity(0).Context(worldSerial) }

// SelfContext is the context of the communicator of the process alone.
func (p *Proc) SelfContext() uint64 { return p.Identity(p.job.Rank).Context(selfSerial) }

// LastContext is the context of the synchronisation at the end of all processes of the job.
func (p *Proc) LastContext() uint64 { return p.Identity(0).Context(lastSerial) }
