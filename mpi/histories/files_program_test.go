package histories_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/mpi"
)

// A fileProgram is what ranks do with one file, which they open several times, by handles. In each
// round the members of handles first change them: views, the size, atomic mode. Then ranks access the
// file. Steps have one order, and every rank does those that concern it in this order, so that the
// program ends. Between rounds all ranks synchronise.
type fileProgram struct {
	seed    uint64
	places  string
	handles []*fileHandle
	rounds  []*fileRound
}

// fileHandle is an open file of the members of a communicator.
type fileHandle struct {
	number int
	on     int // one of the following
	mode   mpi.FileMode
	hints  []string // keys and values
}

// sequential reports whether the file is accessed at the shared pointer only.
func (h *fileHandle) sequential() bool { return h.mode&mpi.ModeSequential != 0 }

// The communicators of handles.
const (
	onWorld  = iota
	onHalves // ranks with even and with odd numbers each open the file
	onSelf   // each rank does
	handlesOn
)

// group is the number of the communicator of a rank.
func (h *fileHandle) group(rank int) int {
	switch h.on {
	case onWorld:
		return 0
	case onHalves:
		return rank % 2
	}
	return rank
}

// members are the ranks of a group of n ranks.
func (h *fileHandle) members(n, group int) (list []int) {
	for rank := range n {
		if h.group(rank) == group {
			list = append(list, rank)
		}
	}
	return list
}

// groups is the number of communicators.
func (h *fileHandle) groups(n int) int {
	return [handlesOn]int{1, min(n, 2), n}[h.on]
}

// fileRound is a part of the program before and after which all ranks synchronise.
type fileRound struct {
	changes []*fileChange
	steps   []*fileStep
	closes  []*fileChange
	sync    bool // as section 14.6.1 demands; else a barrier, which Halo promises to be enough
}

// fileChange is a collective call that changes a handle, by all its groups.
type fileChange struct {
	do    changeKind
	h     *fileHandle
	views []*fileView // by rank
	n     int64       // size, or offset
	on    bool
}

type changeKind int

const (
	changeOpen changeKind = iota
	changeClose
	changeView
	changeSize     // by one group
	changeAllocate // by one group
	changeAtomic
	changeSeekShared
	changeKinds
)

func (c *fileChange) String() string {
	what := [changeKinds]string{"open", "close", "view", "size", "preallocate", "atomic", "seek shared"}[c.do]
	s := fmt.Sprintf("%s handle %d", what, c.h.number)
	switch c.do {
	case changeOpen:
		return fmt.Sprintf("%s on %s, %v %q", s, [handlesOn]string{"world", "halves", "self"}[c.h.on], c.h.mode, c.h.hints)
	case changeView:
		for rank, v := range c.views {
			if rank == 0 || v != c.views[0] {
				s += fmt.Sprintf("\n      rank %d: %v", rank, v)
			}
		}
	case changeAtomic:
		s += fmt.Sprint(" ", c.on)
	case changeSize, changeAllocate, changeSeekShared:
		s += fmt.Sprint(" ", c.n)
	}
	return s
}

// fileStep is a call of one rank, or of all members of a group.
type fileStep struct {
	do     stepKind
	h      *fileHandle
	rank   int // but for collective accesses
	family family
	write  bool
	parts  []*fileAccess // of the ranks, in their order
	begun  *fileStep     // that a wait, or the end of a split access, completes
	n      int64
	whence int
}

type stepKind int

const (
	stepAccess stepKind = iota
	stepWait            // by one rank
	stepEnd             // of a split access, by the group
	stepSeek
	stepTell // position, position of the shared pointer, or size: checked at once
	stepKinds
)

// family is one of the fourteen families of data access (14.4.1).
type family int

const (
	atOffset family = iota
	atPointer
	atShared
	laterAtOffset // nonblocking
	laterAtPointer
	laterAtShared
	allAtOffset // collective
	allAtPointer
	allOrdered
	allLaterAtOffset // nonblocking collective
	allLaterAtPointer
	splitAtOffset
	splitAtPointer
	splitOrdered
	families
)

func (f family) String() string {
	return [families]string{"at", "", "shared", "i-at", "i", "i-shared", "at-all", "all", "ordered", "i-at-all", "i-all",
		"at-all-begin", "all-begin", "ordered-begin"}[f]
}

func (f family) collective() bool { return f >= allAtOffset }
func (f family) later() bool {
	return f >= laterAtOffset && f < allAtOffset || f == allLaterAtOffset || f == allLaterAtPointer
}
func (f family) split() bool   { return f >= splitAtOffset }
func (f family) ordered() bool { return f == allOrdered || f == splitOrdered }
func (f family) shared() bool  { return f == atShared || f == laterAtShared || f.ordered() }
func (f family) explicit() bool {
	return f == atOffset || f == laterAtOffset || f == allAtOffset || f == allLaterAtOffset || f == splitAtOffset
}

// fileAccess is the part of one rank in an access.
type fileAccess struct {
	number int
	rank   int
	offset int64 // in elementary types, of explicit accesses
	basic  dtype.ID
	memory half
	seed   uint64 // of what is in memory
}

// memoryOf makes a layout of n elements of a basic type.
func memoryOf(r *rand.Rand, basic dtype.ID, n int64) half {
	e := types.Type(basic).Elem()
	named := dtypetest.Named(basic)
	if n == 0 || r.IntN(3) == 0 {
		h := half{spec: named, count: n, m: named.Typemap(types, 1)}
		if sliceable(e) && basic != dtype.Long && r.IntN(3) > 0 { // slices of int64 are of MPI_INT64_T
			h.id = basic
		}
		return h
	}
	k := n
	for k > 40 || k > 1 && r.IntN(3) == 0 {
		d := int64(2)
		for k%d != 0 {
			d++
		}
		k /= d
	}
	if n/k > 300 && r.IntN(2) == 0 || n/k > 4000 {
		return blocksOf(r, named, n, e.Size)
	}
	seq := make([]*dtype.Elem, k)
	for i := range seq {
		seq[i] = e
	}
	s := dtypetest.Regroup(r, types, seq, 1)
	return half{spec: s, count: n / k, m: s.Typemap(types, 1<<20)}
}

// blocksOf makes a simple layout of many elements: in blocks that may be longer than a page, which the kernel
// gets as they are, or single.
func blocksOf(r *rand.Rand, named *dtypetest.Spec, n, size int64) half {
	block := []int64{1, 1, 7, 1000, 3000}[r.IntN(5)]
	if n%block != 0 {
		block = 1
	}
	s := named
	if block > 1 {
		s = dtypetest.Contiguous(block, named)
	}
	if gap := int64(r.IntN(3)); gap > 0 {
		s = dtypetest.Resized(s, 0, (block+gap)*size)
	}
	return half{spec: s, count: n / block, m: s.Typemap(types, 1<<20)}
}

// elements is the number of basic elements of an access.
func (a *fileAccess) elements() int64 { return a.memory.count * int64(len(a.memory.m.Entries)) }

func (s *fileStep) String() string {
	verb := "read"
	if s.write {
		verb = "write"
	}
	switch s.do {
	case stepWait:
		return fmt.Sprintf("rank %d waits for %d", s.rank, s.begun.part(s.rank).number)
	case stepEnd:
		return fmt.Sprintf("end of %d ...", s.begun.parts[0].number)
	case stepSeek:
		return fmt.Sprintf("rank %d seeks in handle %d by %d from %d", s.rank, s.h.number, s.n, s.whence)
	case stepTell:
		return fmt.Sprintf("rank %d looks at handle %d", s.rank, s.h.number)
	}
	text := fmt.Sprintf("%s %v by handle %d", verb, s.family, s.h.number)
	for _, a := range s.parts {
		text += fmt.Sprintf("\n      %d: rank %d, %d elements", a.number, a.rank, a.elements())
		if s.family.explicit() {
			text += fmt.Sprintf(" at %d", a.offset)
		}
		text += fmt.Sprintf(", memory %v", &a.memory)
	}
	return text
}

// concerns reports whether a rank takes part in a step.
func (s *fileStep) concerns(rank int) bool {
	switch s.do {
	case stepAccess:
		return s.part(rank) != nil
	case stepEnd:
		return s.begun.part(rank) != nil
	}
	return s.rank == rank
}

// part is the access of a rank, nil if it has none.
func (s *fileStep) part(rank int) *fileAccess {
	for _, a := range s.parts {
		if a.rank == rank {
			return a
		}
	}
	return nil
}

func (p *fileProgram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, ranks on hosts %q", p.seed, p.places)
	for i, r := range p.rounds {
		fmt.Fprintf(&b, "\nround %d", i)
		for _, c := range r.changes {
			fmt.Fprintf(&b, "\n  %v", c)
		}
		for _, s := range r.steps {
			fmt.Fprintf(&b, "\n    %v", s)
		}
		if r.sync {
			b.WriteString("\n  sync")
		}
		for _, c := range r.closes {
			fmt.Fprintf(&b, "\n  %v", c)
		}
	}
	return b.String()
}
