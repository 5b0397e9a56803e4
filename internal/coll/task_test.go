package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/world"
)

// task is one collective with random arguments at one member, and the result of a serial
// computation. All members make the same task.
type task struct {
	c          *comm.Comm
	kind       coll.Kind
	typ        op.Type
	o          op.Op
	user       *op.User // used instead of o, unless nil
	root       int
	inPlace    bool
	counts     [][]int // elements from one member to another; reductions use only the first row
	args       args
	send, recv []byte // the whole memory: blocks, and the bytes around them, which must not change
	image      []byte // of recv before the collective

	given    args          // args, without the slices that layouts replace
	from, to *dtype.Buffer // replace args.Send and args.Recv, unless nil
	laid     []*laid       // the memory of from and to
	pairs
	neighborhood
}

// args has the arguments of a collective on slices, which the serial computation uses.
type args struct {
	coll.Args  // without Send and Recv
	Send, Recv []byte
}

// of returns the arguments with Buffers in place of the slices, unless the Buffers are nil.
func (a *args) of(from, to *dtype.Buffer) coll.Args {
	x := a.Args
	x.Send, x.Recv = coll.Bytes(a.Send), coll.Bytes(a.Recv)
	if from != nil {
		x.Send = coll.Elements(from)
	}
	if to != nil {
		x.Recv = coll.Elements(to)
	}
	return x
}

func (t *task) String() string {
	text := fmt.Sprintf("%v by rank %d of %d, root %d: %v of %v %v, in place %t", t.kind, t.c.Rank, t.c.Size(), t.root, t.o, t.counts, t.typ, t.inPlace)
	if t.around != nil {
		text += fmt.Sprintf(", neighbours %+v, edges %v", *t.around, t.edges)
	}
	if t.from != nil {
		text += ", sent are " + t.from.Type().Describe(t.from.Count())
	}
	if t.to != nil {
		text += ", received are " + t.to.Type().Describe(t.to.Count())
	}
	return text
}

// newTask makes a random task of a kind; g has the same state at all members.
func newTask(c *comm.Comm, k coll.Kind, g *rand.Rand, most int) *task {
	if k >= coll.NeighborAllgather {
		return newNeighborTask(c, k, g, most)
	}
	n := c.Size()
	t := &task{c: c, kind: k, typ: someType(g), root: g.IntN(n), inPlace: g.IntN(2) == 0}
	for op.Check(t.o, t.typ) != nil {
		t.o = op.Op(1 + g.IntN(op.Ops))
	}
	if g.IntN(4) == 0 {
		t.typ, t.user = op.Uint64, composition()
	}
	equal := someCount(g, most)
	for range n {
		row := make([]int, n)
		for d := range n {
			row[d] = equal
		}
		t.counts = append(t.counts, row)
	}
	switch k { // blocks of unequal length
	case coll.Gatherv, coll.Allgatherv:
		for r := range n {
			x := someCount(g, most)
			for d := range n {
				t.counts[r][d] = x
			}
		}
	case coll.Scatterv, coll.ReduceScatter:
		for d := range n {
			x := someCount(g, most)
			for r := range n {
				t.counts[r][d] = x
			}
		}
	case coll.Alltoallv, coll.Alltoallw:
		for r := range n {
			for d := range n {
				t.counts[r][d] = someCount(g, most)
			}
		}
	}
	if k == coll.Alltoallw {
		t.layOutPairs(g)
		return t
	}
	t.layOut(g)
	if k == coll.Barrier || t.reduces() && t.user == nil { // predefined operations take slices
		t.given = t.args
		return t
	}
	t.layOutTypes(rand.New(rand.NewPCG(g.Uint64(), uint64(c.Rank))))
	return t
}

// spread places blocks of the given lengths in any order with gaps, or omits the displacements.
// It returns where the blocks begin and where the last one ends.
func spread(g *rand.Rand, counts []int) (displs []int, reach int) {
	if g.IntN(3) == 0 {
		for _, k := range counts {
			reach += k
		}
		return nil, reach
	}
	displs = make([]int, len(counts))
	for _, i := range g.Perm(len(counts)) {
		reach += g.IntN(3)
		displs[i] = reach
		reach += counts[i]
	}
	return displs, reach
}

// layOut makes the arguments and the memory.
func (t *task) layOut(g *rand.Rand) {
	n, me, w := t.c.Size(), t.c.Rank, t.typ.Size()
	a := &t.args
	a.Width, a.Op, a.Type, a.User, a.Root = w, t.o, t.typ, t.user, t.root
	atRoot := me == t.root
	one := t.counts[0][0] * w
	cells := func(b []byte, at, count int) []byte { return b[at*w : (at+count)*w] }
	column := make([]int, n)
	for r := range n {
		column[r] = t.counts[r][me]
	}
	// Displacements may differ between members: from here on each member has its own g.
	g = rand.New(rand.NewPCG(g.Uint64(), uint64(me)))
	guard := func(bytes int) []byte { return make([]byte, bytes+3*w) }
	switch t.kind {
	case coll.Bcast:
		t.recv = guard(one)
		a.Recv = t.recv[:one]
	case coll.Reduce, coll.Allreduce, coll.Scan, coll.Exscan:
		t.send, t.recv = guard(one), guard(one)
		if t.inPlace {
			t.send = t.recv
		}
		a.Send, a.Recv = t.send[:one], t.recv
		if t.kind == coll.Reduce && !atRoot {
			t.send, a.Recv = guard(one), nil
			a.Send = t.send[:one]
		}
	case coll.Gather, coll.Allgather:
		t.send, t.recv = guard(one), guard(n*one)
		a.Send, a.Recv = t.send[:one], t.recv
		if t.inPlace && (atRoot || t.kind == coll.Allgather) {
			t.send, a.Send = t.recv, t.recv[me*one:(me+1)*one]
		}
	case coll.Gatherv, coll.Allgatherv:
		displs, reach := spread(g, column)
		mine := t.counts[me][0]
		t.send, t.recv = guard(mine*w), guard(reach*w)
		a.Send, a.Recv, a.RecvCounts, a.RecvDispls = t.send[:mine*w], t.recv, column, displs
		if t.inPlace && (atRoot || t.kind == coll.Allgatherv) {
			t.send, a.Send = t.recv, cells(t.recv, place(column, displs, me), mine)
		}
		if t.kind == coll.Gatherv && !atRoot {
			a.Recv, a.RecvCounts, a.RecvDispls = nil, nil, nil
		}
	case coll.Scatter:
		t.send, t.recv = guard(n*one), guard(one)
		a.Send, a.Recv = t.send, t.recv[:one]
		if !atRoot {
			a.Send = nil
		} else if t.inPlace {
			t.recv, a.Recv = t.send, t.send[me*one:(me+1)*one]
		}
	case coll.Scatterv:
		displs, reach := spread(g, t.counts[me])
		mine := t.counts[0][me]
		t.send, t.recv = guard(reach*w), guard(mine*w)
		a.Send, a.Recv, a.SendCounts, a.SendDispls = t.send, t.recv[:mine*w], t.counts[me], displs
		if !atRoot {
			a.Send, a.SendCounts, a.SendDispls = nil, nil, nil
		} else if t.inPlace {
			t.recv, a.Recv = t.send, cells(t.send, place(t.counts[me], displs, me), mine)
		}
	case coll.Alltoall:
		t.send, t.recv = guard(n*one), guard(n*one)
		if t.inPlace {
			t.send = t.recv
		}
		a.Send, a.Recv = t.send[:n*one], t.recv
	case coll.Alltoallv:
		out, reachOut := spread(g, t.counts[me])
		in, reachIn := spread(g, column)
		t.send, t.recv = guard(reachOut*w), guard(reachIn*w)
		if t.inPlace {
			t.recv = guard(max(reachIn, reachOut) * w)
			t.send = t.recv
		}
		a.Send, a.SendCounts, a.SendDispls = t.send, t.counts[me], out
		a.Recv, a.RecvCounts, a.RecvDispls = t.recv, column, in
	case coll.ReduceScatter, coll.ReduceScatterBlock:
		total := 0
		for _, k := range t.counts[0] {
			total += k * w
		}
		t.send, t.recv = guard(total), guard(t.counts[0][me]*w)
		if t.inPlace {
			t.recv = t.send
		}
		a.Send, a.Recv = t.send[:total], t.recv
		if t.kind == coll.ReduceScatter {
			a.SendCounts = t.counts[0]
		}
	}
}

// place returns where block r begins, in elements.
func place(counts, displs []int, r int) int {
	if displs != nil {
		return displs[r]
	}
	at := 0
	for _, k := range counts[:r] {
		at += k
	}
	return at
}

// piece returns what one member sends to another; to is 0 where all members get the same.
func (t *task) piece(from, to int, k uint64) []byte {
	return contribution(t.typ, t.counts[from][to], from*100+to, k)
}

// load stores what the member gives in the k-th execution.
func (t *task) load(k uint64) {
	if t.paired() {
		t.loadPairs(k)
		return
	}
	fill(t.send, rand.New(rand.NewPCG(k, 77)))
	fill(t.recv, rand.New(rand.NewPCG(k, 78)))
	n, me, w, a := t.c.Size(), t.c.Rank, t.typ.Size(), &t.args
	switch t.kind {
	case coll.Bcast:
		if me == t.root {
			copy(a.Recv, t.piece(me, 0, k))
		}
	case coll.Gather, coll.Allgather, coll.Gatherv, coll.Allgatherv:
		copy(a.Send, t.piece(me, 0, k))
	case coll.Scatter, coll.Scatterv, coll.Alltoall, coll.Alltoallv:
		for d := range n {
			if len(a.Send) > 0 {
				copy(a.Send[place(t.counts[me], a.SendDispls, d)*w:], t.piece(me, d, k))
			}
		}
	case coll.Barrier:
	case coll.NeighborAllgather, coll.NeighborAllgatherv, coll.NeighborAlltoall, coll.NeighborAlltoallv:
		t.loadNeighbors(k)
	default:
		copy(a.Send, t.whole(me, k))
	}
	t.image = bytes.Clone(t.recv)
	for _, l := range t.laid {
		l.load(rand.New(rand.NewPCG(k, 80)))
	}
}

// verify compares the result with that of a serial computation.
func (t *task) verify(k uint64) error {
	if t.paired() {
		return t.verifyPairs(k)
	}
	n, me, w, a := t.c.Size(), t.c.Rank, t.typ.Size(), &t.args
	want := t.image
	atRoot := me == t.root
	switch t.kind {
	case coll.Bcast:
		copy(want, t.piece(t.root, 0, k))
	case coll.Reduce:
		if atRoot {
			t.store(want, t.reduced(n-1, k))
		}
	case coll.Allreduce:
		t.store(want, t.reduced(n-1, k))
	case coll.Scan:
		t.store(want, t.reduced(me, k))
	case coll.Exscan:
		if me > 0 {
			t.store(want, t.reduced(me-1, k))
		}
	case coll.ReduceScatter, coll.ReduceScatterBlock:
		at, x := place(t.counts[0], nil, me)*w, t.counts[0][me]*w
		t.store(want, t.reduced(n-1, k)[at:at+x])
	case coll.Gather, coll.Allgather, coll.Gatherv, coll.Allgatherv:
		if atRoot || t.kind == coll.Allgather || t.kind == coll.Allgatherv {
			column := a.RecvCounts
			if column == nil {
				column = t.counts[0]
			}
			for r := range n {
				copy(want[place(column, a.RecvDispls, r)*w:], t.piece(r, 0, k))
			}
		}
	case coll.Scatter, coll.Scatterv:
		if !(t.inPlace && atRoot) {
			copy(want, t.piece(t.root, me, k))
		}
	case coll.Alltoall, coll.Alltoallv:
		column := a.RecvCounts
		if column == nil {
			column = t.counts[0]
		}
		for r := range n {
			copy(want[place(column, a.RecvDispls, r)*w:], t.piece(r, me, k))
		}
	case coll.NeighborAllgather, coll.NeighborAllgatherv, coll.NeighborAlltoall, coll.NeighborAlltoallv:
		t.expectNeighbors(want, k)
	}
	if t.to != nil {
		copy(t.recv, want)
	}
	for _, l := range t.laid {
		if err := l.verify(); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
	}
	got := bytes.Clone(t.recv)
	plainZeros(t.typ, got)
	plainZeros(t.typ, want)
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("%v: byte %d of %d is %d, want %d", t, i, len(want), got[i], want[i])
		}
	}
	return nil
}

// do carries out the task in one of the forms: blocking, nonblocking, or persistent and started
// several times.
func (t *task) do(w *world.World, k uint64, form int) error {
	switch form {
	case 0:
		t.load(k)
		if err := t.block(w); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
		return t.verify(k)
	case 1:
		t.load(k)
		r, err := t.start(w, coll.Nonblocking)
		if err == nil {
			err = finish(w, r)
		}
		if err != nil {
			return fmt.Errorf("nonblocking %v: %w", t, err)
		}
		return t.verify(k)
	}
	r, err := t.start(w, coll.Persistent)
	if err != nil {
		return fmt.Errorf("persistent %v: %w", t, err)
	}
	for i := range uint64(3) {
		t.load(k + i)
		restart(w, r)
		if err := finish(w, r); err != nil {
			return fmt.Errorf("persistent %v: %w", t, err)
		}
		if err := t.verify(k + i); err != nil {
			return fmt.Errorf("start %d of persistent %w", i, err)
		}
	}
	w.Proc.Lock()
	w.P2P.Release(r)
	w.Proc.Unlock()
	return nil
}

// block carries out the task by the blocking calls, which use slots if there are any.
func (t *task) block(w *world.World) error {
	a, all, e := t.given, t.given.of(t.from, t.to), w.Coll
	t.c.Neighbors = t.around
	if t.paired() {
		return e.DoPairs(t.c, t.kind, t.allPairs())
	}
	if t.user != nil || t.from != nil || t.to != nil {
		return e.Do(t.c, t.kind, &all)
	}
	switch t.kind {
	case coll.Barrier:
		return e.Barrier(t.c)
	case coll.Bcast:
		return e.Bcast(t.c, a.Recv, dtype.Mixed, a.Root)
	case coll.Reduce:
		return e.Reduce(t.c, a.Send, a.Recv, a.Op, a.Type, dtype.Mixed, a.Root)
	case coll.Allreduce:
		return e.Allreduce(t.c, a.Send, a.Recv, a.Op, a.Type, dtype.Mixed)
	}
	return e.Do(t.c, t.kind, &all)
}

func (t *task) start(w *world.World, f coll.Form) (*p2p.Request, error) {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	t.c.Neighbors = t.around
	if t.paired() {
		return w.Coll.StartPairs(t.c, t.kind, f, t.allPairs())
	}
	all := t.given.of(t.from, t.to)
	return w.Coll.Start(t.c, t.kind, f, &all)
}

func restart(w *world.World, r *p2p.Request) {
	w.Proc.Lock()
	w.P2P.Start(r)
	w.Proc.Unlock()
}

func finish(w *world.World, r *p2p.Request) error {
	w.Proc.Lock()
	defer w.Proc.Unlock()
	w.P2P.Wait(r)
	return w.P2P.Take(r)
}
