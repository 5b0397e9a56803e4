package coll

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// Elements with gaps, such as a double and an int, travel with them: slots, schedules and their
// algorithms move whole blocks of memory. The bytes in the gaps belong to the program, which may keep other
// data there. So a reduction of such elements works on copies, in which the gaps are 0, and at the end
// copies the data of the result alone.
//
// Rejected: packed pairs, for which every kernel, slot and check of lengths would need a second form; and copies
// that know of gaps within slots and algorithms, where elements without gaps would pay for the question.

// ungapped is the copies that a schedule works on. The zero value stands for operands without gaps.
type ungapped struct {
	t          op.Type
	send, recv []byte // of the program
	from, to   []byte // the copies; in place they begin at the same byte
	copies     []byte // their memory, which a free schedule keeps
}

// ungap gives s copies of its operands if these have gaps. The arguments have been checked.
func (s *schedule) ungap() {
	if !s.kind.Reduces() || s.User != nil || !s.Type.Gaps() {
		return
	}
	g := &s.gaps
	g.t, g.send, g.recv = s.Type, flat(s.Send.Mem), flat(s.Recv.Mem)
	n, at := len(g.send), len(g.send)
	if g.inPlace() {
		at = 0
	}
	if need := max(n, at+len(g.recv)); cap(g.copies) < need {
		g.copies = make([]byte, need)
	}
	g.from, g.to = g.copies[:n], g.copies[at:at+len(g.recv)]
	if n > 0 {
		s.Send.Mem = mem.Of(g.from)
	}
	if len(g.to) > 0 {
		s.Recv.Mem = mem.Of(g.to)
	}
}

func (g *ungapped) inPlace() bool {
	return len(g.send) > 0 && len(g.recv) > 0 && unsafe.SliceData(g.send) == unsafe.SliceData(g.recv)
}

// kept is what a schedule that is free keeps.
func (g *ungapped) kept() ungapped {
	if cap(g.copies) > keepScratch {
		return ungapped{}
	}
	return ungapped{copies: g.copies}
}

// take copies the operands of the program when the schedule begins. The memory of the result is copied, too,
// since not every member of every kind gets one.
func (g *ungapped) take() {
	g.t.Copy(g.to, g.recv)
	g.t.Copy(g.from, g.send)
}

// give copies the result when the schedule has ended.
func (g *ungapped) give() { g.t.Copy(g.recv, g.to) }

// ungapped returns copies of the operands of a blocking reduction, in memory that is kept for the next one:
// only one goroutine at a time may be in a blocking collective on a communicator. In place the two are one. The
// copy of the result is nil if there is no result here.
func (st *state) ungapped(t op.Type, send, recv []byte) (from, to []byte) {
	n := len(send)
	if need := 2 * n; cap(st.copies) < need || cap(st.copies) > max(need, keepScratch) {
		st.copies = make([]byte, need)
	}
	from = st.copies[:n:n]
	t.Copy(from, send)
	switch {
	case len(recv) == 0:
	case unsafe.SliceData(send) == unsafe.SliceData(recv):
		to = from
	default:
		to = st.copies[n : 2*n : 2*n]
	}
	return from, to
}
