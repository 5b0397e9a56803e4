package mpi_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// neighborCalls are the neighbourhood collectives with blocks of one int64 for each neighbour: what a
// process sends to the i-th destination is send[i], and what it receives from the i-th source becomes
// recv[i]. An Allgather sends send[0] to all.
func neighborCalls(c *mpi.Comm, send, recv []int64) map[string][]collectiveForm {
	ones := func(n int) (counts []int) {
		for range n {
			counts = append(counts, 1)
		}
		return counts
	}
	blocks := func(list []int64) (all []mpi.Buffer) {
		for i := range list {
			all = append(all, mpi.Buf(list[i:i+1]))
		}
		return all
	}
	one := []int64{-9}
	if len(send) > 0 {
		one[0] = send[0]
	}
	out, in, from, to := ones(len(send)), ones(len(recv)), mpi.Buf(send), mpi.Buf(recv)
	return map[string][]collectiveForm{
		"NeighborAllgather": collectiveForms(
			func() error { return mpi.NeighborAllgather(c, one, recv) },
			func() mpi.Request { return mpi.IneighborAllgather(c, one, recv) },
			func() mpi.Request { return mpi.NeighborAllgatherInit(c, one, recv) }),
		"Comm.NeighborAllgather": collectiveForms(
			func() error { return c.NeighborAllgather(mpi.Buf(one), to) },
			func() mpi.Request { return c.IneighborAllgather(mpi.Buf(one), to) },
			func() mpi.Request { return c.NeighborAllgatherInit(mpi.Buf(one), to) }),
		"NeighborAllgatherv": collectiveForms(
			func() error { return mpi.NeighborAllgatherv(c, one, recv, in, nil) },
			func() mpi.Request { return mpi.IneighborAllgatherv(c, one, recv, in, nil) },
			func() mpi.Request { return mpi.NeighborAllgathervInit(c, one, recv, in, nil) }),
		"Comm.NeighborAllgatherv": collectiveForms(
			func() error { return c.NeighborAllgatherv(mpi.Buf(one), to, in, nil) },
			func() mpi.Request { return c.IneighborAllgatherv(mpi.Buf(one), to, in, nil) },
			func() mpi.Request { return c.NeighborAllgathervInit(mpi.Buf(one), to, in, nil) }),
		"NeighborAlltoall": collectiveForms(
			func() error { return mpi.NeighborAlltoall(c, send, recv) },
			func() mpi.Request { return mpi.IneighborAlltoall(c, send, recv) },
			func() mpi.Request { return mpi.NeighborAlltoallInit(c, send, recv) }),
		"Comm.NeighborAlltoall": collectiveForms(
			func() error { return c.NeighborAlltoall(from, to) },
			func() mpi.Request { return c.IneighborAlltoall(from, to) },
			func() mpi.Request { return c.NeighborAlltoallInit(from, to) }),
		"NeighborAlltoallv": collectiveForms(
			func() error { return mpi.NeighborAlltoallv(c, send, out, nil, recv, in, nil) },
			func() mpi.Request { return mpi.IneighborAlltoallv(c, send, out, nil, recv, in, nil) },
			func() mpi.Request { return mpi.NeighborAlltoallvInit(c, send, out, nil, recv, in, nil) }),
		"Comm.NeighborAlltoallv": collectiveForms(
			func() error { return c.NeighborAlltoallv(from, out, nil, to, in, nil) },
			func() mpi.Request { return c.IneighborAlltoallv(from, out, nil, to, in, nil) },
			func() mpi.Request { return c.NeighborAlltoallvInit(from, out, nil, to, in, nil) }),
		"NeighborAlltoallw": collectiveForms(
			func() error { return c.NeighborAlltoallw(blocks(send), blocks(recv)) },
			func() mpi.Request { return c.IneighborAlltoallw(blocks(send), blocks(recv)) },
			func() mpi.Request { return c.NeighborAlltoallwInit(blocks(send), blocks(recv)) }),
	}
}

// exchanged calls all neighbourhood collectives of c in all forms, and checks what they receive: from
// the i-th source what that sends to its places[i]-th destination, or nothing where a source is
// ProcNull. Rank r sends 100*r+i to its i-th destination.
func exchanged(t testing.TB, c *mpi.Comm, dests int, sources, places []int) {
	t.Helper()
	send, recv := make([]int64, dests), make([]int64, len(sources))
	for i := range send {
		send[i] = int64(100*c.Rank() + i)
	}
	calls := neighborCalls(c, send, recv)
	names := make([]string, 0, len(calls))
	for name := range calls {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, f := range calls[name] {
			for i := range recv {
				recv[i] = -1
			}
			if err := f.call(); err != nil {
				t.Errorf("%s %s: %v", f.form, name, err)
				continue
			}
			for i, r := range sources {
				want := int64(-1)
				if r != mpi.ProcNull {
					want = int64(100 * r)
					if !strings.Contains(name, "Allgather") {
						want += int64(places[i])
					}
				}
				if recv[i] != want {
					t.Errorf("%s %s: rank %d receives %d from its source %d, rank %d, want %d", f.form, name, c.Rank(), recv[i], i, r, want)
				}
			}
		}
	}
}

// 8.6: in a grid the neighbours are, for each dimension, the one before and the one after. What goes
// in one direction arrives from the opposite one, also where a periodic dimension is so short that
// both lead to the same process, or to the process itself; beyond the end of a dimension that is not
// periodic nothing is exchanged. A grid without dimensions has no neighbours.
func TestXNBC01_COL15_NeighborsInGrids(t *testing.T) {
	for _, n := range []int{1, 2, 4, 6} {
		overHosts(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, x := range []struct {
				dims    []int
				periods []bool
			}{
				{nil, nil}, {[]int{1}, []bool{true}}, {[]int{1}, []bool{false}},
				{[]int{2}, []bool{true}}, {[]int{2}, []bool{false}}, {[]int{2, 1}, []bool{true, true}},
				{[]int{2, 2}, []bool{true, true}}, {[]int{4}, []bool{true}}, {[]int{3, 2}, []bool{true, false}},
				{[]int{1, 3, 2}, []bool{true, false, true}},
			} {
				size := 1
				for _, d := range x.dims {
					size *= d
				}
				if size > n {
					continue
				}
				c, err := world.CartCreate(x.dims, x.periods, true)
				ok(t, err)
				if c == nil {
					continue
				}
				var sources, places []int
				for dim := range x.dims {
					before, after, err := c.Cart().Shift(dim, 1)
					ok(t, err)
					sources, places = append(sources, before, after), append(places, 2*dim+1, 2*dim)
				}
				exchanged(t, c, len(sources), sources, places)
				d, r := c.Idup()
				ok(t, second(r.Wait()))
				exchanged(t, d, len(sources), sources, places)
				ok(t, d.Free())
				ok(t, c.Free())
			}
		})
	}
}

// 8.6: in distributed graphs several edges between two processes pair in the order of the lists; a
// process may have edges to itself, more to it than from it, or none. The graph is given by any
// processes, or by both ends.
func TestXNBC01_TOP05_NeighborsInDistGraphs(t *testing.T) {
	type edge struct{ from, to int }
	for seed := range uint64(4) {
		overHosts(t, []int{1, 3, 5, 5}[seed], func(t testing.TB, world *mpi.Comm) {
			g := rand.New(rand.NewPCG(seed, 8)) // the same everywhere
			n := world.Size()
			given := make([][]edge, n)
			for range g.IntN(5 * n) {
				by := g.IntN(n)
				given[by] = append(given[by], edge{g.IntN(n), g.IntN(max(1, n-1))}) // none to the last one
			}
			// ends returns the sources and destinations of a rank, and which destination of its
			// source each edge is.
			ends := func(rank int) (sources, places, dests []int) {
				out := make([]int, n)
				for _, list := range given {
					for _, e := range list {
						if e.to == rank {
							sources, places = append(sources, e.from), append(places, out[e.from])
						}
						if e.from == rank {
							dests = append(dests, e.to)
						}
						out[e.from]++
					}
				}
				return sources, places, dests
			}
			var sources, degrees, dests []int
			for _, e := range given[world.Rank()] {
				sources, degrees, dests = append(sources, e.from), append(degrees, 1), append(dests, e.to)
			}
			general, err := world.DistGraphCreate(sources, degrees, dests, nil, seed%2 == 0)
			ok(t, err)
			in, _, out := ends(world.Rank())
			adjacent, err := world.DistGraphCreateAdjacent(in, nil, out, nil, seed%2 == 0)
			ok(t, err)
			for _, c := range []*mpi.Comm{general, adjacent} {
				in, places, out := ends(c.Rank())
				exchanged(t, c, len(out), in, places)
				ok(t, c.Free())
			}
		})
	}
}

// 8.6: in a graph the neighbours are those of Graph.Neighbors, of which some may be the same. If two
// processes have different numbers of edges to each other, all have an error that names them.
func TestXNBC01_TOP04_NeighborsInGraphs(t *testing.T) {
	overHosts(t, 3, func(t testing.TB, world *mpi.Comm) {
		index, edges := []int{3, 6, 8}, []int{1, 2, 1, 0, 1, 0, 2, 0}
		c, err := world.GraphCreate(index, edges, false)
		ok(t, err)
		sources, err := c.Graph().Neighbors(c.Rank())
		ok(t, err)
		// Rank 0 has the neighbours 1, 2, 1, rank 1 has 0, 1, 0, and rank 2 has 2, 0.
		places := [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1}}[c.Rank()]
		exchanged(t, c, len(sources), sources, places)
		ok(t, c.Free())
		c, err = world.GraphCreate([]int{1, 1, 1}, []int{1}, false)
		ok(t, err)
		err = mpi.NeighborAllgather(c, []int{1}, nil)
		if !errors.Is(err, mpi.ErrTopology) || !contains(err, "NeighborAllgather: the graph is not symmetric: rank 0 has 1 edges to rank 1, which has 0 to it") {
			t.Errorf("a graph that is not symmetric: %v", err)
		}
		ok(t, c.Free())
	})
}

// Errors: class, call, and numbers.
func TestXNBC01_NeighborArguments(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		c, err := world.CartCreate([]int{2}, []bool{true}, false)
		ok(t, err)
		self, err := world.CartCreate([]int{1}, []bool{true}, false)
		ok(t, err)
		group, err := world.Split(world.Rank(), 0)
		ok(t, err)
		inter, err := mpi.IntercommCreate(group, 0, world, 1-world.Rank(), 5)
		ok(t, err)
		b, two := make([]int32, 8), []int{2, 2}
		list := func(n int) []mpi.Buffer { return make([]mpi.Buffer, n) }
		bad := map[string]struct {
			err  error
			want mpi.Class
		}{
			"NeighborAlltoall on world: the communicator has no topology":                      {mpi.NeighborAlltoall(world, b[:4], b[4:]), mpi.ErrTopology},
			"NeighborAlltoallwInit on world: the communicator has no topology":                 {waited(world.NeighborAlltoallwInit(nil, nil)), mpi.ErrTopology},
			"there is no NeighborAllgather on an intercommunicator":                            {mpi.NeighborAllgather(inter, b[:2], b[4:]), mpi.ErrComm},
			"there is no NeighborAlltoallw on an intercommunicator":                            {inter.NeighborAlltoallw(nil, nil), mpi.ErrComm},
			"NeighborAlltoall: send slice of 3 elements is not a block for each of 2 dest":     {mpi.NeighborAlltoall(c, b[:3], b[4:]), mpi.ErrCount},
			"IneighborAllgather: receive slice of 3 elements is not a block for each of 2 sou": {waited(mpi.IneighborAllgather(c, b[:2], b[5:])), mpi.ErrCount},
			"NeighborAllgatherv: 1 receive counts for 2 sources":                               {mpi.NeighborAllgatherv(c, b[:2], b[4:], two[:1], nil), mpi.ErrCount},
			"NeighborAlltoallv: 1 send displacements for 2 destinations":                       {mpi.NeighborAlltoallv(c, b[:4], two, []int{0}, b[4:], two, nil), mpi.ErrArg},
			"NeighborAlltoallvInit: send count -1 of destination 1 is negative":                {waited(mpi.NeighborAlltoallvInit(c, b[:4], []int{1, -1}, nil, b[4:], two, nil)), mpi.ErrCount},
			"NeighborAlltoallv: receive block of source 1: 2 elements at 3 of a slice of 4":    {mpi.NeighborAlltoallv(c, b[:4], two, nil, b[4:], two, []int{0, 3}), mpi.ErrCount},
			"NeighborAllgather: the send and the receive slice share memory":                   {mpi.NeighborAllgather(c, b[:2], b[:4]), mpi.ErrBuffer},
			"NeighborAlltoallw: what is sent to destination 1 shares memory with what is rec":  {c.NeighborAlltoallw([]mpi.Buffer{{}, mpi.Buf(b)}, []mpi.Buffer{{}, mpi.Buf(b)}), mpi.ErrBuffer},
			"NeighborAlltoallw: 1 send and 2 receive buffers for 2 destinations and 2 sources": {c.NeighborAlltoallw(list(1), list(2)), mpi.ErrCount},
			"NeighborAllgather: communicator is nil":                                           {mpi.NeighborAllgather(nil, b, b), mpi.ErrComm},
		}
		if self != nil {
			err := mpi.NeighborAlltoallv(self, b[:4], two, nil, b[4:], []int{2, 1}, nil)
			if !errors.Is(err, mpi.ErrCount) || !contains(err, "rank 0 sends itself 8 bytes and receives 4") {
				t.Errorf("a block to itself of another length: %v", err)
			}
			ok(t, self.Free())
		}
		for text, x := range bad {
			if !errors.Is(x.err, x.want) || !contains(x.err, text) {
				t.Errorf("%v, want %v with %q", x.err, x.want, text)
			}
		}
		// A block of another length than its receiver expects is an error there.
		err = mpi.NeighborAllgather(c, b[:1+world.Rank()], make([]int32, 2))
		if world.Rank() == 0 && !errors.Is(err, mpi.ErrTruncate) {
			t.Errorf("blocks that are too long: %v", err)
		}
		recv := make([]int32, 2)
		ok(t, mpi.NeighborAllgather(c, []int32{int32(world.Rank())}, recv))
		if other := int32(1 - world.Rank()); recv[0] != other || recv[1] != other {
			t.Errorf("afterwards: %d", recv)
		}
		ok(t, inter.Free())
		ok(t, group.Free())
		ok(t, c.Free())
	})
}

// In checking mode what is sent and received along the edges between two processes is compared, and
// all members have the error.
func TestXNBC01_CheckedNeighbors(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		c, err := world.CartCreate([]int{3}, []bool{true}, false)
		ok(t, err)
		exchanged(t, c, 2, []int{(c.Rank() + 2) % 3, (c.Rank() + 1) % 3}, []int{1, 0})
		err = mpi.NeighborAllgather(c, make([]int32, 1), make([]int32, 2))
		ok(t, err)
		if c.Rank() == 1 {
			err = mpi.NeighborAllgather(c, make([]float32, 1), make([]float32, 2))
		} else {
			err = mpi.NeighborAllgather(c, make([]int32, 1), make([]int32, 2))
		}
		if !errors.Is(err, mpi.ErrType) || !contains(err, "rank 1 sends 1 x MPI_FLOAT, rank 0 receives 1 x MPI_INT32_T") {
			t.Errorf("other types: %v", err)
		}
		two, err := world.CartCreate([]int{2}, []bool{true}, false)
		ok(t, err)
		if two != nil {
			err := mpi.NeighborAlltoallv(two, make([]int32, 3), []int{2, 1}, nil, make([]int32, 3), []int{1, 2}, nil)
			ok(t, err)
			recv := []int{1, 2}
			if two.Rank() == 0 {
				recv = []int{1, 3}
			}
			err = mpi.NeighborAlltoallv(two, make([]int32, 3), []int{2, 1}, nil, make([]int32, 4), recv, nil)
			if !errors.Is(err, mpi.ErrCount) || !contains(err, "rank 1 sends 2 x MPI_INT32_T and 1 x MPI_INT32_T, rank 0 receives 3 x MPI_INT32_T and 1 x MPI_INT32_T") {
				t.Errorf("other lengths: %v", err)
			}
			ok(t, two.Free())
		}
		err = mpi.NeighborAllgather(c, make([]int32, 1), make([]int32, 2))
		ok(t, err)
		ok(t, c.Free())
	})
}

// 8.8: starting a persistent neighbourhood collective again allocates nothing, nor does the blocking
// form on a node.
func TestXNBC01_NeighborsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	const runs = 200
	mpitest.Run(t, 4, func(t testing.TB, world *mpi.Comm) {
		c, err := world.CartCreate([]int{2, 2}, []bool{true, true}, false)
		ok(t, err)
		send, recv := make([]int64, 4), make([]int64, 4)
		r := mpi.NeighborAlltoallInit(c, send, recv)
		for _, step := range []func(){
			func() {
				ok(t, r.Start())
				ok(t, second(r.Wait()))
			},
			func() { ok(t, mpi.NeighborAlltoall(c, send, recv)) },
		} {
			for range runs {
				step()
			}
			if c.Rank() == 0 {
				if n := testing.AllocsPerRun(runs, step); n >= 1 {
					t.Errorf("%v allocations", n)
				}
			} else {
				for range runs + 1 {
					step()
				}
			}
		}
		ok(t, r.Free())
		ok(t, c.Free())
	})
}

// A derived type for each face: the inner cells at the edge of a field go to the halos of the
// neighbours.
func TestXNBC01_FacesOfAField(t *testing.T) {
	const n = 3 // inner cells on each side
	overHosts(t, 4, func(t testing.TB, world *mpi.Comm) {
		c, err := world.CartCreate([]int{2, 2}, []bool{true, false}, true)
		ok(t, err)
		field := make([]int32, (n+2)*(n+2))
		at := func(y, x int) *int32 { return &field[y*(n+2)+x] }
		face := func(y, x, h, w int) mpi.Buffer {
			d, err := mpi.TypeSubarray([]int{n + 2, n + 2}, []int{h, w}, []int{y, x}, mpi.OrderC, committed(mpi.TypeOf[int32]()))
			ok(t, err)
			ok(t, d.Commit())
			return mpi.BufOf(field, 1, d)
		}
		send := []mpi.Buffer{face(1, 1, 1, n), face(n, 1, 1, n), face(1, 1, n, 1), face(1, n, n, 1)}
		recv := []mpi.Buffer{face(0, 1, 1, n), face(n+1, 1, 1, n), face(1, 0, n, 1), face(1, n+1, n, 1)}
		coords, err := c.Cart().Coords(c.Rank())
		ok(t, err)
		global := func(y, x int) int32 { // of the cell y, x of this block
			gy, gx := coords[0]*n+y-1, coords[1]*n+x-1
			if gx < 0 || gx >= 2*n {
				return -7
			}
			return int32((gy+2*n)%(2*n)*100 + gx)
		}
		for y := range n + 2 {
			for x := range n + 2 {
				*at(y, x) = -7
				if y > 0 && y <= n && x > 0 && x <= n {
					*at(y, x) = global(y, x)
				}
			}
		}
		ok(t, c.NeighborAlltoallw(send, recv))
		for y := range n + 2 {
			for x := range n + 2 {
				want := global(y, x)
				if (y == 0 || y == n+1) && (x == 0 || x == n+1) {
					want = -7 // corners
				}
				if *at(y, x) != want {
					t.Errorf("rank %d at %d: cell %d, %d is %d, want %d", c.Rank(), coords, y, x, *at(y, x), want)
				}
			}
		}
		ok(t, c.Free())
	})
}
