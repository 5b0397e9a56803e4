package mpi_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// overHosts runs fn over each fabric on one host, and on pretended ones.
func overHosts(t *testing.T, n int, fn func(t testing.TB, world *mpi.Comm)) {
	mpitest.Run(t, n, fn)
	if n < 3 {
		return
	}
	for _, fabric := range mpitest.Fabrics() {
		places := []byte(fabric + "@")
		for r := range n { // hosts of different sizes, whose ranks do not follow each other
			places = append(places, "01012011"[r%8])
		}
		t.Run(string(places), func(t *testing.T) { mpitest.On(t, string(places), n, fn) })
	}
}

// 8.5.1, 8.5.5: ranks are positions in row-major order; dup has the topology, too; members beyond
// the grid get nil; with reorder each process has a rank of its own, which CartMap foretells.
func TestTOP01_CartCreate(t *testing.T) {
	overHosts(t, 8, func(t testing.TB, world *mpi.Comm) {
		for _, reorder := range []bool{false, true} {
			for _, dims := range [][]int{{}, {8}, {3, 2}, {2, 2, 2}, {2, 1, 4}, {1}} {
				periods := make([]bool, len(dims))
				size := 1
				for i, d := range dims {
					periods[i] = i%2 == 0
					size *= d
				}
				foretold, err := world.CartMap(dims, periods)
				ok(t, err)
				c, err := world.CartCreate(dims, periods, reorder)
				ok(t, err)
				if (c == nil) != (world.Rank() >= size) {
					t.Fatalf("grid of %d: rank %d of %d is left out: %t", dims, world.Rank(), world.Size(), c == nil)
				}
				if c == nil {
					if foretold != mpi.Undefined {
						t.Errorf("CartMap gives rank %d to a process beyond the grid", foretold)
					}
					continue
				}
				if c.Size() != size || c.Topology() != mpi.CartTopology || c.Graph() != nil || c.DistGraph() != nil {
					t.Errorf("grid of %d: %d ranks, topology %v", dims, c.Size(), c.Topology())
				}
				if want := world.Rank(); !reorder && c.Rank() != want || reorder && c.Rank() != foretold {
					t.Errorf("grid of %d, reorder %t: rank %d, in world %d, foretold %d", dims, reorder, c.Rank(), want, foretold)
				}
				d, err := c.Dup()
				ok(t, err)
				e, r := c.Idup()
				_, err = r.Wait()
				ok(t, err)
				for _, c := range []*mpi.Comm{c, d, e} {
					g := c.Cart()
					if !slices.Equal(g.Dims(), dims) || !slices.Equal(g.Periods(), periods) {
						t.Errorf("grid of %d, %t: %d, %t", dims, periods, g.Dims(), g.Periods())
					}
					for r := range size {
						coords, err := g.Coords(r)
						ok(t, err)
						back, err := g.Rank(coords...)
						ok(t, err)
						at := 0
						for i, c := range coords {
							at = at*dims[i] + c
						}
						if back != r || at != r {
							t.Errorf("grid of %d: rank %d has coordinates %d, which are rank %d", dims, r, coords, back)
						}
					}
					ok(t, c.Free())
				}
			}
		}
	})
}

// 8.5.6, 8.5.7: a message along each dimension arrives from the source of the shift; parts of a grid
// are grids of the dimensions that remain. TOP-03: the messages are of Sendrecv.
func TestTOP02_ShiftsAndParts(t *testing.T) {
	overHosts(t, 6, func(t testing.TB, world *mpi.Comm) {
		c, err := world.CartCreate([]int{2, 3}, []bool{true, false}, true)
		ok(t, err)
		g := c.Cart()
		me, err := g.Coords(c.Rank())
		ok(t, err)
		for dim := range 2 {
			for _, disp := range []int{1, -1, 2, 0} {
				source, dest, err := g.Shift(dim, disp)
				ok(t, err)
				got := []int64{-1}
				_, err = mpi.Sendrecv(c, []int64{int64(c.Rank())}, dest, 5, got, source, 5)
				ok(t, err)
				want := int64(-1)
				at := slices.Clone(me)
				at[dim] -= disp
				if dim == 0 || at[dim] >= 0 && at[dim] < 3 {
					r, err := g.Rank(at...)
					ok(t, err)
					want = int64(r)
				}
				if got[0] != want || want < 0 != (source == mpi.ProcNull) {
					t.Errorf("shift by %d in dimension %d: message of %d, want %d", disp, dim, got[0], want)
				}
			}
		}
		for _, remain := range [][]bool{{true, false}, {false, true}, {true, true}, {false, false}} {
			sub, err := g.Sub(remain...)
			ok(t, err)
			var dims, coords []int
			for i, r := range remain {
				if r {
					dims, coords = append(dims, g.Dims()[i]), append(coords, me[i])
				}
			}
			mine, err := sub.Cart().Coords(sub.Rank())
			ok(t, err)
			if !slices.Equal(sub.Cart().Dims(), dims) || !slices.Equal(mine, coords) {
				t.Errorf("%t remain of %d at %d: %d at %d", remain, g.Dims(), me, sub.Cart().Dims(), mine)
			}
			sum := []int64{0}
			ok(t, mpi.Allreduce(sub, []int64{1}, sum, mpi.Sum))
			if int(sum[0]) != sub.Size() {
				t.Errorf("a part of %d has %d members", sub.Size(), sum[0])
			}
			ok(t, sub.Free())
		}
		ok(t, c.Free())
	})
}

// 8.5.3: every process knows the neighbours of all; nodes may be their own neighbours, and have
// several edges to one.
func TestTOP04_GraphCreate(t *testing.T) {
	overHosts(t, 6, func(t testing.TB, world *mpi.Comm) {
		index, edges := []int{2, 3, 3, 6, 8}, []int{1, 4, 0, 3, 1, 1, 0, 3}
		foretold, err := world.GraphMap(index, edges)
		ok(t, err)
		for _, reorder := range []bool{false, true} {
			c, err := world.GraphCreate(index, edges, reorder)
			ok(t, err)
			if world.Rank() == 5 {
				if c != nil || foretold != mpi.Undefined {
					t.Error("a process beyond the nodes is in the communicator")
				}
				continue
			}
			if want := world.Rank(); !reorder && c.Rank() != want || reorder && c.Rank() != foretold {
				t.Errorf("reorder %t: rank %d, in world %d, foretold %d", reorder, c.Rank(), want, foretold)
			}
			d, err := c.Dup()
			ok(t, err)
			for _, c := range []*mpi.Comm{c, d} {
				g := c.Graph()
				if c.Topology() != mpi.GraphTopology || c.Cart() != nil || !slices.Equal(g.Index(), index) || !slices.Equal(g.Edges(), edges) {
					t.Errorf("topology %v, index %d, edges %d", c.Topology(), g.Index(), g.Edges())
				}
				from := 0
				for r, end := range index {
					list, err := g.Neighbors(r)
					ok(t, err)
					if !slices.Equal(list, edges[from:end]) {
						t.Errorf("the neighbours of %d are %d, want %d", r, list, edges[from:end])
					}
					from = end
				}
				ok(t, c.Free())
			}
		}
		none, err := world.GraphCreate(nil, nil, true)
		ok(t, err)
		if none != nil {
			t.Error("a graph without nodes has members")
		}
	})
}

// 8.5.4: each process knows the edges to it and from it, with weights, in the order in which they
// were given: by the process itself, or by any processes, in the order of their ranks. With reorder
// a process has those of its new rank.
func TestTOP05_DistGraphs(t *testing.T) {
	type edge struct{ from, to, weight int }
	for seed := range uint64(3) {
		overHosts(t, 5, func(t testing.TB, world *mpi.Comm) {
			r := rand.New(rand.NewPCG(seed, 1)) // the same everywhere
			n, me := world.Size(), world.Rank()
			given := make([][]edge, n) // by who gives it
			for k := range r.IntN(20) {
				e := edge{r.IntN(n), r.IntN(n), r.IntN(5)}
				if k%4 == 0 {
					e.weight += 1000
				}
				by := r.IntN(n)
				given[by] = append(given[by], e)
			}
			lists := func(rank int) (in, out, inWeights, outWeights []int) {
				inWeights, outWeights = []int{}, []int{}
				for _, list := range given {
					for _, e := range list {
						if e.to == rank {
							in, inWeights = append(in, e.from), append(inWeights, e.weight)
						}
						if e.from == rank {
							out, outWeights = append(out, e.to), append(outWeights, e.weight)
						}
					}
				}
				return in, out, inWeights, outWeights
			}
			for _, weighted := range []bool{false, true} {
				for _, reorder := range []bool{false, true} {
					var sources, degrees, dests, weights []int
					if weighted {
						weights = []int{}
					}
					for _, e := range given[me] {
						sources, degrees, dests = append(sources, e.from), append(degrees, 1), append(dests, e.to)
						if weighted {
							weights = append(weights, e.weight)
						}
					}
					general, err := world.DistGraphCreate(sources, degrees, dests, weights, reorder)
					ok(t, err)
					in, out, inWeights, outWeights := lists(me)
					if !weighted {
						inWeights, outWeights = nil, nil
					}
					adjacent, err := world.DistGraphCreateAdjacent(in, inWeights, out, outWeights, reorder)
					ok(t, err)
					for name, c := range map[string]*mpi.Comm{"general": general, "adjacent": adjacent} {
						g := c.DistGraph()
						if c.Topology() != mpi.DistGraphTopology || g.Weighted() != weighted || c.Size() != n || !reorder && c.Rank() != me {
							t.Errorf("%s: topology %v, weighted %t, rank %d of %d, in world %d of %d", name, c.Topology(), g.Weighted(), c.Rank(), c.Size(), me, n)
						}
						in, out, inWeights, outWeights := lists(c.Rank())
						from, fromWeights := g.Sources()
						to, toWeights := g.Dests()
						if !slices.Equal(from, in) || !slices.Equal(to, out) {
							t.Errorf("%s: edges from %d and to %d, want %d and %d", name, from, to, in, out)
						}
						if weighted && (!slices.Equal(fromWeights, inWeights) || !slices.Equal(toWeights, outWeights) || fromWeights == nil || toWeights == nil) {
							t.Errorf("%s: weights %d and %d, want %d and %d", name, fromWeights, toWeights, inWeights, outWeights)
						}
						if !weighted && (fromWeights != nil || toWeights != nil) {
							t.Errorf("%s: a graph without weights has %d and %d", name, fromWeights, toWeights)
						}
					}
					for _, c := range []*mpi.Comm{general, adjacent} {
						ok(t, c.Free())
					}
				}
			}
		})
	}
}

// What is wrong with arguments is an error of its class, which names the numbers, and no
// communicator is made.
func TestTopologyErrors(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		cart, err := world.CartCreate([]int{2}, []bool{false}, false)
		ok(t, err)
		g := cart.Cart()
		graph, err := world.GraphCreate([]int{1, 2}, []int{1, 0}, false)
		ok(t, err)
		for text, x := range map[string]struct {
			class mpi.Class
			err   error
		}{
			"CartCreate on world: dimension 1 has length 0":                                  {mpi.ErrDims, second(world.CartCreate([]int{1, 0}, make([]bool, 2), false))},
			"grid of dimensions [3] has more positions than the communicator has members, 2": {mpi.ErrDims, second(world.CartCreate([]int{3}, make([]bool, 1), false))},
			"grid of dimensions [1073741824 1073741824 1073741824]":                          {mpi.ErrDims, second(world.CartCreate([]int{1 << 30, 1 << 30, 1 << 30}, make([]bool, 3), true))},
			"1 lengths of dimensions and 2 periods":                                          {mpi.ErrDims, second(world.CartMap([]int{1}, make([]bool, 2)))},
			"rank 2 is not in 0..1":                                                          {mpi.ErrRank, second(g.Coords(2))},
			"2 coordinates in a grid of 1 dimensions":                                        {mpi.ErrArg, second(g.Rank(0, 0))},
			"coordinates [2] in a grid of dimensions [2], periodic [false]":                  {mpi.ErrArg, second(g.Rank(2))},
			"2 values for a grid of 1 dimensions":                                            {mpi.ErrDims, second(g.Sub(true, true))},
			"a graph of 3 nodes on a communicator of 2 members":                              {mpi.ErrArg, second(world.GraphCreate([]int{0, 0, 0}, nil, false))},
			"the neighbours of node 1 end at 0, and begin at 1 of 1 edges":                   {mpi.ErrArg, second(world.GraphCreate([]int{1, 0}, []int{1}, false))},
			"the neighbours of all nodes are 1, and there are 2 edges":                       {mpi.ErrArg, second(world.GraphMap([]int{1}, []int{0, 0}))},
			"edge 0 goes to node 2, which is not in 0..1":                                    {mpi.ErrArg, second(world.GraphCreate([]int{1, 1}, []int{2}, false))},
			"GraphNeighbors: rank -1":                                                        {mpi.ErrRank, second(graph.Graph().Neighbors(-1))},
			"source 1 is rank 2, which is not in 0..1":                                       {mpi.ErrRank, second(world.DistGraphCreateAdjacent([]int{0, 2}, nil, nil, nil, false))},
			"1 weights for 2 dests":                                                          {mpi.ErrArg, second(world.DistGraphCreateAdjacent(nil, []int{}, []int{0, 1}, []int{1}, false))},
			"dest 0, rank 1, has weight -1":                                                  {mpi.ErrArg, second(world.DistGraphCreateAdjacent(nil, []int{}, []int{1}, []int{-1}, false))},
			"one of sources and dests has weights":                                           {mpi.ErrArg, second(world.DistGraphCreateAdjacent([]int{1}, []int{1}, []int{1}, nil, false))},
			"1 degrees for 2 sources":                                                        {mpi.ErrArg, second(world.DistGraphCreate([]int{0, 1}, []int{1}, []int{1}, nil, false))},
			"source 1, rank 1, has degree -1":                                                {mpi.ErrArg, second(world.DistGraphCreate([]int{0, 1}, []int{0, -1}, nil, nil, false))},
			"source 0, rank 0, has degree 2, and 1 of 1 dests are left":                      {mpi.ErrArg, second(world.DistGraphCreate([]int{0}, []int{2}, []int{1}, nil, false))},
			"the degrees add up to 1, and there are 2 dests":                                 {mpi.ErrArg, second(world.DistGraphCreate([]int{0}, []int{1}, []int{1, 1}, nil, false))},
		} {
			if !errors.Is(x.err, x.class) || !contains(x.err, text) {
				t.Errorf("%q: %v, want class %v", text, x.err, x.class)
			}
		}
		if _, _, err := g.Shift(1, 1); !errors.Is(err, mpi.ErrDims) || !contains(err, "dimension 1 of a grid of 1 dimensions") {
			t.Errorf("a shift in a dimension that does not exist: %v", err)
		}
		if world.Topology() != mpi.NoTopology || world.Cart() != nil {
			t.Error("world has a topology")
		}
		ok(t, cart.Free())
		if _, err := g.Coords(0); !errors.Is(err, mpi.ErrComm) {
			t.Errorf("the grid of a communicator that has been freed: %v", err)
		}
		ok(t, graph.Free())
	})
}

// In checking mode an edge that one end alone gives is an error at all members, which names both
// ranks and the counts where it shows; a graph whose edges pair is made.
func TestTOP05_EdgesThatDoNotPair(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		next, before := []int{(world.Rank() + 1) % 3}, []int{(world.Rank() + 2) % 3}
		c, err := world.DistGraphCreateAdjacent(before, nil, next, nil, false)
		ok(t, err)
		ok(t, c.Free())
		if world.Rank() == 2 {
			next = []int{0, 0}
		}
		_, err = world.DistGraphCreateAdjacent(before, nil, next, nil, false)
		want := []string{
			"rank 0 gives 1 edges from rank 2, which gives 2 to it", "edges do not pair, as rank 0 has found",
			"rank 2 gives 2 edges to rank 0, which gives 1 from it",
		}[world.Rank()]
		if !errors.Is(err, mpi.ErrTopology) || !contains(err, want) {
			t.Errorf("rank %d: %v, want %q", world.Rank(), err, want)
		}
		ok(t, world.Barrier())
	})
}

// In checking mode weights that some members give, and others do not, are an error at all members,
// which names one of each.
func TestTOP05_WeightsOfSome(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		me := world.Rank()
		next, before, weights := []int{(me + 1) % 3}, []int{(me + 2) % 3}, []int{4}
		if me == 1 {
			weights = nil
		}
		const want = "rank 0 gives weights, and rank 1 gives none"
		_, err := world.DistGraphCreateAdjacent(before, weights, next, weights, false)
		mismatched(t, "DistGraphCreateAdjacent", err, mpi.ErrTopology, want)
		_, err = world.DistGraphCreate([]int{me}, []int{1}, next, weights, true)
		mismatched(t, "DistGraphCreate", err, mpi.ErrTopology, want)
		c, err := world.DistGraphCreate(nil, nil, nil, []int{}, true)
		ok(t, err)
		if !c.DistGraph().Weighted() {
			t.Error("a graph without edges of which all give weights has none")
		}
		ok(t, c.Free())
	})
}

// In a verbose job rank 0 says what reordering gains.
func TestGainsAreLogged(t *testing.T) {
	t.Setenv("HALO_VERBOSE", "1")
	fabrics := mpitest.Fabrics()
	read, write, err := os.Pipe()
	ok(t, err)
	stderr := os.Stderr
	os.Stderr = write
	defer func() { os.Stderr = stderr }()
	mpitest.On(t, fabrics[0]+"@0011", 4, func(t testing.TB, world *mpi.Comm) {
		for _, dims := range [][]int{{4}, {2, 2}} {
			c, err := world.CartCreate(dims, make([]bool, len(dims)), true)
			ok(t, err)
			ok(t, c.Free())
		}
		me := world.Rank() // the edges are 0-2 and 1-3
		c, err := world.DistGraphCreateAdjacent([]int{me ^ 2}, []int{5}, []int{me ^ 2}, []int{5}, true)
		ok(t, err)
		ok(t, c.Free())
	})
	os.Stderr = stderr
	ok(t, write.Close())
	got, err := io.ReadAll(read)
	ok(t, err)
	want := "halo: CartCreate on world: 1 edges between hosts, as in the order of the ranks\n" +
		"halo: CartCreate on world: 2 edges between hosts, as in the order of the ranks\n" +
		"halo: DistGraphCreateAdjacent on world: 0 edges between hosts, 20 in the order of the ranks\n"
	if string(got) != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}

// contains reports whether an error says a text.
func contains(err error, text string) bool { return strings.Contains(fmt.Sprint(err), text) }
