package coll

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// elements is a number of elements of a type, or of bytes without one.
type elements struct {
	t *dtype.Type // nil for bytes
	n int64
}

// elementsOf returns the number and type of the elements in memory of a side.
func elementsOf(d mem.Mem, width int, t *dtype.Type) elements {
	if t == nil || width == 0 {
		return elements{nil, int64(d.Len())}
	}
	return elements{t, int64(d.Len() / width)}
}

func (x elements) String() string {
	if x.t == nil {
		return fmt.Sprintf("%d bytes", x.n)
	}
	return x.t.Describe(x.n)
}

func (x elements) signature() dtype.Signature {
	if x.t == nil {
		return dtype.Signature{Elements: x.n, Bytes: x.n, Raw: true}
	}
	return x.t.Signature(x.n)
}

// gives returns what this member sends to rank r; takes returns what it expects from rank r.
func (s *schedule) gives(r int) (x elements, any bool) {
	types, me := &s.agreement.types, s.c.Rank
	switch s.kind {
	case Barrier, NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw: // see along
		return x, false
	case Bcast:
		return elementsOf(s.Recv.Mem, s.Recv.width, types[1]), me == s.Root && r != me
	case Gather, Gatherv:
		return elementsOf(s.Send.Mem, s.Send.width, types[0]), r == s.Root
	case Scatter, Scatterv:
		if me != s.Root {
			return x, false
		}
	case Alltoallw:
		return elements{s.pairs[0][r].typ, int64(s.pairs[0][r].number)}, true
	case Alltoall, Alltoallv:
	default: // each member gives the same to all others
		return elementsOf(s.Send.Mem, s.Send.width, types[0]), true
	}
	return elementsOf(s.sendBlock(r), s.Send.width, types[0]), true
}

func (s *schedule) takes(r int) (x elements, any bool) {
	types, me := &s.agreement.types, s.c.Rank
	switch s.kind {
	case Barrier:
		return x, false
	case Bcast:
		return elementsOf(s.Recv.Mem, s.Recv.width, types[1]), r == s.Root && r != me
	case Gather, Gatherv:
		if me != s.Root {
			return x, false
		}
	case Scatter, Scatterv:
		return elementsOf(s.Recv.Mem, s.Recv.width, types[1]), r == s.Root
	case Alltoallw:
		return elements{s.pairs[1][r].typ, int64(s.pairs[1][r].number)}, true
	case Reduce, Allreduce, Scan, Exscan, ReduceScatter, ReduceScatterBlock: // all operands are alike
		return elementsOf(s.Send.Mem, s.Send.width, types[0]), true
	}
	return elementsOf(s.recvBlock(r), s.Recv.width, types[1]), true
}

// sends returns what this member says that it will send to rank r. The operands of a predefined
// operation are compared by their op.Type, which stands for the datatype.
func (s *schedule) sends(r int) (c claim) {
	x, any := s.gives(r)
	switch {
	case s.kind.neighborhood():
		c, _, _ = s.along(0, r)
	case !any:
	case s.operands():
		n := int64(s.Send.Len() / s.Width)
		c = claim{dtype.Signature{Elements: n, Bytes: int64(s.Send.Len()), Hash: uint64(s.Type)}, fmt.Sprintf("%d x %v", n, s.Type)}
	default:
		c = claim{x.signature(), x.String()}
	}
	return c
}

// operands reports whether operands of a predefined operation are sent.
func (s *schedule) operands() bool { return s.kind.reduces() && s.User == nil }

// operation describes the operation of a reduction.
func (s *schedule) operation() string {
	switch {
	case s.User == nil:
		return s.Op.String()
	case s.User.Commutes:
		return "an operation of the program that commutes"
	}
	return "an operation of the program that does not commute"
}

// judge compares the records of the other members with what this member calls and expects.
func (s *schedule) judge() *finding {
	g, n, me := s.agreement, s.c.Size(), s.c.Rank
	told := make([]record, n)
	for r := range told {
		told[r].decode(g.heard[r*recordSize:])
	}
	mine := &told[me]
	show := func(b []byte) string { return p2p.Printable(text(b)) }
	// differ makes a finding that names two ranks, the lower one first.
	differ := func(cl class.Class, r int, format string, what func(x *record) string) *finding {
		lo, hi := min(r, me), max(r, me)
		return found(cl, pair(told, r, me), format, lo, what(&told[lo]), hi, what(&told[hi]))
	}
	for r := range told {
		if x := &told[r]; x.Kind != mine.Kind || x.Call != mine.Call {
			return differ(class.Other, r, "rank %d calls %s, rank %d calls %s", func(x *record) string { return show(x.Call[:]) })
		}
	}
	for r := range told {
		if x := &told[r]; x.Class != 0 {
			return found(classOf(x.Class), callsite.Pair(r, placed(x), r, ""), "rank %d: %s", r, show(x.Detail[:]))
		}
	}
	for r := range told {
		x := &told[r]
		switch {
		case s.kind.rooted() && x.Root != mine.Root:
			return differ(class.Root, r, "rank %d names root %s, rank %d names root %s", func(x *record) string { return fmt.Sprint(x.Root) })
		case x.Op != mine.Op:
			return differ(class.Op, r, "rank %d combines by %s, rank %d by %s", func(x *record) string { return show(x.Op[:]) })
		case x.Counts != mine.Counts:
			return differ(class.Count, r, "rank %d divides the result into %s elements, rank %d into %s", func(x *record) string { return show(x.Detail[:]) })
		}
	}
	for r := range told {
		if f := s.compare(r, &told[r], pair(told, r, me)); f != nil {
			return f
		}
	}
	return &finding{}
}

// compare compares what rank r will send with what this member expects from it.
func (s *schedule) compare(r int, x *record, at string) *finding {
	sent := dtype.Signature{Elements: x.Elements, Bytes: x.Bytes, Hash: x.Hash, Raw: x.Raw != 0}
	text, me := p2p.Printable(text(x.Text[:])), s.c.Rank
	if s.kind.neighborhood() {
		return s.compareEdges(r, sent, text, at)
	}
	want, any := s.takes(r)
	if !any {
		return nil
	}
	if s.kind.reduces() {
		mine := s.sends(r)
		if s.operands() {
			want = elements{} // only the types of the operands are compared
		}
		if cl := disagree(sent, mine.Signature, want); cl != class.Success {
			return found(cl, at, "rank %d gives %s, rank %d gives %s", r, text, me, mine.text)
		}
		return nil
	}
	if cl := disagree(sent, want.signature(), want); cl != class.Success {
		return found(cl, at, "rank %d sends %s, rank %d receives %s", r, text, me, want)
	}
	return nil
}

// disagree returns the class of the error if what is sent is not what is expected: Count if only
// the number of elements differs. Bytes without a type match any type.
func disagree(sent, expected dtype.Signature, want elements) class.Class {
	switch {
	case sent == expected:
		return class.Success
	case sent.Elements < 0 || sent.Bytes < 0:
		return class.Intern
	case sent.Raw || expected.Raw || sent.Elements == 0 || expected.Elements == 0:
		if sent.Bytes == expected.Bytes {
			return class.Success
		}
		return class.Count
	case sent.Hash == expected.Hash: // the same type of operands
		return class.Count
	case want.t != nil && want.t.Size() > 0 && sent.Check(want.t, sent.Bytes/want.t.Size()+1) == nil:
		return class.Count
	}
	return class.Type
}

// placed is where the member that has told x calls, and pair where two members do: the end of a finding.
func placed(x *record) string { return p2p.Printable(text(x.At[:])) }

func pair(told []record, r, me int) string {
	return callsite.Pair(r, placed(&told[r]), me, placed(&told[me]))
}

// found returns a finding. at, which says where the members call, is not cut.
func found(cl class.Class, at, format string, args ...any) *finding {
	f := &finding{Class: uint32(cl)}
	text := fmt.Sprintf(format, args...)
	copy(f.Text[:], text[:min(len(text), len(f.Text)-len(at))]+at)
	return f
}
