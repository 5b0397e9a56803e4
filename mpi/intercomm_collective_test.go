package mpi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// betweenCall is a collective on an intercommunicator in its three forms, on the same slices.
// got is the result and want the expected one; both are nil if the member gets none.
type betweenCall struct {
	name        string
	now         func() error
	start, init func() mpi.Request
	got, want   []int
}

// gives makes n elements of a rank of the world, from element at on.
func gives(world, at, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1000*world + at + i
	}
	return list
}

// dealt puts blocks into a slice, the last one first, and returns their counts and
// displacements.
func dealt(blocks [][]int) (all, counts, displs []int) {
	counts, displs = make([]int, len(blocks)), make([]int, len(blocks))
	for r := len(blocks) - 1; r >= 0; r-- {
		counts[r], displs[r] = len(blocks[r]), len(all)
		all = append(all, blocks[r]...)
	}
	return all, counts, displs
}

// each makes one block for each of some ranks of the world.
func each(worlds []int, block func(r, world int) []int) [][]int {
	list := make([][]int, len(worlds))
	for r, w := range worlds {
		list[r] = block(r, w)
	}
	return list
}

func room(x []int) []int { return make([]int, len(x)) }

// betweenCalls are the collectives between two sides, with blocks of count elements. Those with
// a root have it on the side of the lower ranks if low, else on the other side.
func betweenCalls(s *sides, world *mpi.Comm, count int, low bool) []betweenCall {
	c, me, n := s.c, world.Rank(), len(s.ours)
	rank := c.Rank()
	here := slices.Contains(s.ours, 0) == low // the root is on this side, as its second member if there is one
	side := s.theirs
	if here {
		side = s.ours
	}
	at := min(1, len(side)-1)
	root, top := at, side[at]
	is := func(x []int) []int { return nil } // returns x at the root, nil elsewhere
	switch {
	case here && rank == at:
		root, is = mpi.Root, func(x []int) []int { return x }
	case here:
		root = mpi.ProcNull
	}
	var list []betweenCall
	add := func(name string, got, want []int, now func() error, start, init func() mpi.Request) {
		list = append(list, betweenCall{fmt.Sprintf("%s of %d with root %d in %d and %d", name, count, root, n, len(s.theirs)), now, start, init, got, want})
	}
	add("Barrier", nil, nil, c.Barrier, c.Ibarrier, c.BarrierInit)

	buf, want := make([]int, count), gives(top, 0, count)
	if here {
		copy(buf, is(want))
		want = nil
	}
	add("Bcast", buf, want, func() error { return mpi.Bcast(c, buf, root) },
		func() mpi.Request { return mpi.Ibcast(c, buf, root) }, func() mpi.Request { return mpi.BcastInit(c, buf, root) })

	own := gives(me, 0, count)
	whole := slices.Concat(each(s.theirs, func(_, w int) []int { return gives(w, 0, count) })...)
	ownv := gives(me, 0, count+rank) // blocks differ in length
	wholev, counts, displs := dealt(each(s.theirs, func(r, w int) []int { return gives(w, 0, count+r) }))
	{
		got := is(room(whole))
		add("Gather", got, is(whole), func() error { return mpi.Gather(c, own, got, root) },
			func() mpi.Request { return mpi.Igather(c, own, got, root) }, func() mpi.Request { return mpi.GatherInit(c, own, got, root) })
	}
	{
		got := is(room(wholev))
		add("Gatherv", got, is(wholev), func() error { return mpi.Gatherv(c, ownv, got, is(counts), is(displs), root) },
			func() mpi.Request { return mpi.Igatherv(c, ownv, got, is(counts), is(displs), root) },
			func() mpi.Request { return mpi.GathervInit(c, ownv, got, is(counts), is(displs), root) })
	}
	{
		got := room(whole)
		add("Allgather", got, whole, func() error { return mpi.Allgather(c, own, got) },
			func() mpi.Request { return mpi.Iallgather(c, own, got) }, func() mpi.Request { return mpi.AllgatherInit(c, own, got) })
	}
	{
		got := room(wholev)
		add("Allgatherv", got, wholev, func() error { return mpi.Allgatherv(c, ownv, got, counts, displs) },
			func() mpi.Request { return mpi.Iallgatherv(c, ownv, got, counts, displs) },
			func() mpi.Request { return mpi.AllgathervInit(c, ownv, got, counts, displs) })
	}
	// The block for rank r of theirs begins at element 10*r.
	out := slices.Concat(each(s.theirs, func(r, _ int) []int { return gives(me, 10*r, count) })...)
	outv, oc, od := dealt(each(s.theirs, func(r, _ int) []int { return gives(me, 10*r, (count+rank+2*r)%4) }))
	in := slices.Concat(each(s.theirs, func(_, w int) []int { return gives(w, 10*rank, count) })...)
	inv, ic, id := dealt(each(s.theirs, func(r, w int) []int { return gives(w, 10*rank, (count+r+2*rank)%4) }))
	{
		var got, want []int
		if !here {
			got, want = make([]int, count), gives(top, 10*rank, count)
		}
		add("Scatter", got, want, func() error { return mpi.Scatter(c, is(out), got, root) },
			func() mpi.Request { return mpi.Iscatter(c, is(out), got, root) }, func() mpi.Request { return mpi.ScatterInit(c, is(out), got, root) })
	}
	{
		var got, want []int
		if !here {
			want = gives(top, 10*rank, (count+at+2*rank)%4)
			got = room(want)
		}
		add("Scatterv", got, want, func() error { return mpi.Scatterv(c, is(outv), is(oc), is(od), got, root) },
			func() mpi.Request { return mpi.Iscatterv(c, is(outv), is(oc), is(od), got, root) },
			func() mpi.Request { return mpi.ScattervInit(c, is(outv), is(oc), is(od), got, root) })
	}
	{
		got := room(in)
		add("Alltoall", got, in, func() error { return mpi.Alltoall(c, out, got) },
			func() mpi.Request { return mpi.Ialltoall(c, out, got) }, func() mpi.Request { return mpi.AlltoallInit(c, out, got) })
	}
	{
		got := room(inv)
		add("Alltoallv", got, inv, func() error { return mpi.Alltoallv(c, outv, oc, od, got, ic, id) },
			func() mpi.Request { return mpi.Ialltoallv(c, outv, oc, od, got, ic, id) },
			func() mpi.Request { return mpi.AlltoallvInit(c, outv, oc, od, got, ic, id) })
	}
	{
		got := room(inv)
		var send, recv []mpi.Buffer
		for r := range s.theirs {
			send = append(send, mpi.Buf(outv[od[r]:od[r]+oc[r]]))
			recv = append(recv, mpi.Buf(got[id[r]:id[r]+ic[r]]))
		}
		add("Alltoallw", got, inv, func() error { return c.Alltoallw(send, recv) },
			func() mpi.Request { return c.Ialltoallw(send, recv) }, func() mpi.Request { return c.AlltoallwInit(send, recv) })
	}
	// Operands have a length that both sides can divide among their members.
	length := len(s.ours) * len(s.theirs) * count
	operand, sum := gives(me, 0, length), make([]int, length)
	for _, w := range s.theirs {
		for i, x := range gives(w, 0, length) {
			sum[i] += x
		}
	}
	for _, op := range []struct {
		name string
		op   mpi.Op
		want []int
	}{
		{"sum", mpi.Sum, sum},
		{"last", keepRight, gives(s.theirs[len(s.theirs)-1], 0, length)},
	} {
		want := op.want
		{
			got := is(make([]int, length))
			add("Reduce by "+op.name, got, is(want), func() error { return mpi.Reduce(c, operand, got, op.op, root) },
				func() mpi.Request { return mpi.Ireduce(c, operand, got, op.op, root) },
				func() mpi.Request { return mpi.ReduceInit(c, operand, got, op.op, root) })
		}
		{
			got := make([]int, length)
			add("Allreduce by "+op.name, got, want, func() error { return mpi.Allreduce(c, operand, got, op.op) },
				func() mpi.Request { return mpi.Iallreduce(c, operand, got, op.op) },
				func() mpi.Request { return mpi.AllreduceInit(c, operand, got, op.op) })
		}
		{
			share := length / n
			got := make([]int, share)
			add("ReduceScatterBlock by "+op.name, got, want[rank*share:(rank+1)*share], func() error { return mpi.ReduceScatterBlock(c, operand, got, op.op) },
				func() mpi.Request { return mpi.IreduceScatterBlock(c, operand, got, op.op) },
				func() mpi.Request { return mpi.ReduceScatterBlockInit(c, operand, got, op.op) })
		}
		{
			shares := make([]int, n) // the last member gets all elements but one, the first the other one
			shares[n-1] = max(length-1, 0)
			shares[0] += length - shares[n-1]
			if n == 1 {
				shares[0] = length
			}
			start := 0
			for _, k := range shares[:rank] {
				start += k
			}
			got := make([]int, shares[rank])
			add("ReduceScatter by "+op.name, got, want[start:start+shares[rank]], func() error { return mpi.ReduceScatter(c, operand, got, shares, op.op) },
				func() mpi.Request { return mpi.IreduceScatter(c, operand, got, shares, op.op) },
				func() mpi.Request { return mpi.ReduceScatterInit(c, operand, got, shares, op.op) })
		}
	}
	return list
}

// keepRight is associative, and its result depends on the order of the ranks.
var keepRight = mpi.CreateOp(func(in, inout []int) {}, false)

// COL-16, 6.2.2: all collectives on intercommunicators of different sizes, with roots on either
// side, in all forms.
func TestCOL16_Intercommunicators(t *testing.T) {
	for _, n := range []int{2, 5} {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for k := 1; k < n; k += 2 {
				s := between(t, world, k)
				for i, count := range []int{0, 1, 3, 2500} {
					for _, low := range [][]bool{{true}, {true, false}, {false}, {true}}[i] {
						calls := betweenCalls(s, world, count, low)
						check := func(x betweenCall, form string) {
							t.Helper()
							if x.want != nil && !slices.Equal(x.got, x.want) {
								t.Fatalf("%s %s: rank %d got %.60v, want %.60v", form, x.name, world.Rank(), x.got, x.want)
							}
							if x.want != nil {
								clear(x.got)
							}
						}
						for _, x := range calls {
							if err := x.now(); err != nil {
								t.Fatalf("%s: %v", x.name, err)
							}
							check(x, "blocking")
						}
						var rs []mpi.Request
						for _, x := range calls {
							rs = append(rs, x.start())
						}
						ok(t, mpi.Waitall(rs, nil))
						for i, x := range calls {
							check(x, "nonblocking")
							rs[i] = x.init()
							ok(t, rs[i].Err())
						}
						for range 2 {
							ok(t, mpi.Startall(rs))
							ok(t, mpi.Waitall(rs, nil))
							for _, x := range calls {
								check(x, "persistent")
							}
						}
						for i := range rs {
							ok(t, rs[i].Free())
						}
					}
				}
				s.free(t)
			}
		})
	}
}

// COL-16: invalid collectives on an intercommunicator are errors at once, and the communicator
// remains usable.
func TestCOL16_IntercommunicatorErrors(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		s := between(t, world, 1)
		c, n := s.c, s.c.RemoteSize()
		one, many := make([]int, 1), make([]int, n)
		for _, x := range []struct {
			err   error
			class mpi.Class
			says  string
		}{
			{mpi.Scan(c, one, many, mpi.Sum), mpi.ErrComm, "no Scan on an intercommunicator"},
			{mpi.Exscan(c, one, many, mpi.Sum), mpi.ErrComm, "no Exscan on an intercommunicator"},
			{mpi.Bcast(c, one, n), mpi.ErrRoot, fmt.Sprintf("remote group of size %d", n)},
			{mpi.Bcast(c, one, mpi.AnySource), mpi.ErrRoot, "root -1"},
			{mpi.Allreduce(c, one, one, mpi.Sum), mpi.ErrBuffer, "no in place"},
			{mpi.Allgather(c, many[:1], many), mpi.ErrBuffer, "no in place"},
			{mpi.Alltoall(c, many, many), mpi.ErrBuffer, "no in place"},
			{mpi.ReduceScatterBlock(c, make([]int, s.c.Size()), []int{}, mpi.Sum), mpi.ErrCount, "receive slice of 0 elements"},
		} {
			wantClass(t, x.err, x.class)
			if !strings.Contains(x.err.Error(), x.says) {
				t.Errorf("error %v, want %q", x.err, x.says)
			}
		}
		sum, err := mpi.AllreduceOne(c, world.Rank(), mpi.Sum)
		ok(t, err)
		all, err := mpi.AllgatherOne(c, world.Rank())
		ok(t, err)
		want := 0
		for _, w := range s.theirs {
			want += w
		}
		if sum != want || !slices.Equal(all, s.theirs) {
			t.Errorf("sum %d of %v, want %d of %v", sum, all, want, s.theirs)
		}
		s.free(t)
	})
}
