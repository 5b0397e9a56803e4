package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// untouched is the value in the gaps of a spread.
const untouched = -77

// spread is numbers in memory with some layout and gaps.
type spread struct {
	mem []int32
	at  func(i int) int // index in mem of number i
	n   int
	b   mpi.Buffer
	per int // numbers in an element of b
}

// spreadOut is memory for n numbers, n even, in one of three layouts: adjacent, every third
// place, or two columns with elements that have a number of each.
func spreadOut(way, n int) *spread {
	one := typeOf[int32]()
	switch way % 3 {
	case 0:
		s := &spread{mem: make([]int32, n), n: n, per: 1, at: func(i int) int { return i }}
		s.b = mpi.Buf(s.mem)
		return s
	case 1:
		s := &spread{mem: make([]int32, 3*n+1), n: n, per: 1, at: func(i int) int { return 3*i + 1 }}
		s.b = mpi.BufAt(s.mem, 1, n, committed(mpi.TypeResized(one, 0, 12)))
		return s
	}
	k := max(n/2, 1)
	s := &spread{mem: make([]int32, 2*k+3), n: n, per: 2, at: func(i int) int { return i/2 + i%2*(k+1) }}
	s.b = mpi.BufOf(s.mem, n/2, committed(mpi.TypeResized(committed(mpi.TypeVector(2, 1, k+1, one)), 0, 4)))
	return s
}

func typeOf[T any]() mpi.Datatype {
	d, err := mpi.TypeOf[T]()
	if err != nil {
		panic(err)
	}
	return d
}

func committed(d mpi.Datatype, err error) mpi.Datatype {
	if err == nil {
		err = d.Commit()
	}
	if err != nil {
		panic(err)
	}
	return d
}

func (s *spread) load(flat []int32) {
	for i := range s.mem {
		s.mem[i] = untouched
	}
	for i, x := range flat {
		s.mem[s.at(i)] = x
	}
}

// equals returns an error unless the numbers of s are those of flat, and its gaps are untouched.
func (s *spread) equals(flat []int32) error {
	want := &spread{mem: make([]int32, len(s.mem)), at: s.at}
	want.load(flat)
	if !slices.Equal(s.mem, want.mem) {
		return fmt.Errorf("%v, want %v", s.mem, want.mem)
	}
	return nil
}

// counts converts counts of numbers to counts of elements of s.
func (s *spread) counts(numbers []int) []int {
	if s.per == 1 {
		return numbers
	}
	list := make([]int, len(numbers))
	for i, n := range numbers {
		list[i] = n / s.per
	}
	return list
}

// verb is a collective for slices, and its three forms for Buffers.
type verb struct {
	name       string
	send, recv int // how many numbers the caller sends and receives
	slices     func(send, recv []int32) error
	do         func(s, r *spread) error
	start      func(s, r *spread) mpi.Request
	prepare    func(s, r *spread) mpi.Request
}

// verbs are all collectives that move data. In those with unequal blocks member r contributes 2r
// numbers, in the others a block.
func verbs(c *mpi.Comm, block, root int) []verb {
	n, me := c.Size(), c.Rank()
	var mine, displs []int // the blocks are in the reverse order of ranks, with gaps
	total := 0
	for r := range n {
		mine = append(mine, 2*r)
	}
	for r := n - 1; r >= 0; r-- {
		displs = append(displs, 0)
	}
	for r := n - 1; r >= 0; r-- {
		displs[r] = total
		total += mine[r] + 2
	}
	var out, in []int // for Alltoallv: member r sends 2*((r+2*d)%3) numbers to member d
	for r := range n {
		out, in = append(out, 2*((me+2*r)%3)), append(in, 2*((r+2*me)%3))
	}
	sum := func(list []int) (k int) {
		for _, x := range list {
			k += x
		}
		return k
	}
	return []verb{
		{"Bcast", 0, block, func(_, r []int32) error { return mpi.Bcast(c, r, root) },
			func(_, r *spread) error { return c.Bcast(r.b, root) },
			func(_, r *spread) mpi.Request { return c.Ibcast(r.b, root) },
			func(_, r *spread) mpi.Request { return c.BcastInit(r.b, root) }},
		{"Gather", block, n * block, func(s, r []int32) error { return mpi.Gather(c, s, r, root) },
			func(s, r *spread) error { return c.Gather(s.b, r.b, root) },
			func(s, r *spread) mpi.Request { return c.Igather(s.b, r.b, root) },
			func(s, r *spread) mpi.Request { return c.GatherInit(s.b, r.b, root) }},
		{"Gatherv", mine[me], total, func(s, r []int32) error { return mpi.Gatherv(c, s, r, mine, displs, root) },
			func(s, r *spread) error { return c.Gatherv(s.b, r.b, r.counts(mine), r.counts(displs), root) },
			func(s, r *spread) mpi.Request {
				return c.Igatherv(s.b, r.b, r.counts(mine), r.counts(displs), root)
			},
			func(s, r *spread) mpi.Request {
				return c.GathervInit(s.b, r.b, r.counts(mine), r.counts(displs), root)
			}},
		{"Scatter", n * block, block, func(s, r []int32) error { return mpi.Scatter(c, s, r, root) },
			func(s, r *spread) error { return c.Scatter(s.b, r.b, root) },
			func(s, r *spread) mpi.Request { return c.Iscatter(s.b, r.b, root) },
			func(s, r *spread) mpi.Request { return c.ScatterInit(s.b, r.b, root) }},
		{"Scatterv", total, mine[me], func(s, r []int32) error { return mpi.Scatterv(c, s, mine, displs, r, root) },
			func(s, r *spread) error { return c.Scatterv(s.b, s.counts(mine), s.counts(displs), r.b, root) },
			func(s, r *spread) mpi.Request {
				return c.Iscatterv(s.b, s.counts(mine), s.counts(displs), r.b, root)
			},
			func(s, r *spread) mpi.Request {
				return c.ScattervInit(s.b, s.counts(mine), s.counts(displs), r.b, root)
			}},
		{"Allgather", block, n * block, func(s, r []int32) error { return mpi.Allgather(c, s, r) },
			func(s, r *spread) error { return c.Allgather(s.b, r.b) },
			func(s, r *spread) mpi.Request { return c.Iallgather(s.b, r.b) },
			func(s, r *spread) mpi.Request { return c.AllgatherInit(s.b, r.b) }},
		{"Allgatherv", mine[me], total, func(s, r []int32) error { return mpi.Allgatherv(c, s, r, mine, displs) },
			func(s, r *spread) error { return c.Allgatherv(s.b, r.b, r.counts(mine), r.counts(displs)) },
			func(s, r *spread) mpi.Request { return c.Iallgatherv(s.b, r.b, r.counts(mine), r.counts(displs)) },
			func(s, r *spread) mpi.Request { return c.AllgathervInit(s.b, r.b, r.counts(mine), r.counts(displs)) }},
		{"Alltoall", n * block, n * block, func(s, r []int32) error { return mpi.Alltoall(c, s, r) },
			func(s, r *spread) error { return c.Alltoall(s.b, r.b) },
			func(s, r *spread) mpi.Request { return c.Ialltoall(s.b, r.b) },
			func(s, r *spread) mpi.Request { return c.AlltoallInit(s.b, r.b) }},
		{"Alltoallv", sum(out), sum(in), func(s, r []int32) error { return mpi.Alltoallv(c, s, out, nil, r, in, nil) },
			func(s, r *spread) error { return c.Alltoallv(s.b, s.counts(out), nil, r.b, r.counts(in), nil) },
			func(s, r *spread) mpi.Request {
				return c.Ialltoallv(s.b, s.counts(out), nil, r.b, r.counts(in), nil)
			},
			func(s, r *spread) mpi.Request {
				return c.AlltoallvInit(s.b, s.counts(out), nil, r.b, r.counts(in), nil)
			}},
	}
}

// COL-17: every collective that moves data has the same result on Buffers, in all three forms,
// as on slices, with any layouts on each side of each member, and if some members pass slices while
// others pass Buffers. Memory that is not received into is not changed.
func TestCOL17_CollectivesOnBuffersEqualThoseOnSlices(t *testing.T) {
	every := 1 // test every layout
	if testrun.Race {
		every = 4
	}
	for _, n := range []int{1, 2, 4} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			me := c.Rank()
			for _, block := range []int{0, 2, 30, 5000} {
				for root := range n {
					for i, v := range verbs(c, block, root) {
						for way := root % every; way < 9; way += every {
							flat := make([]int32, v.send)
							want := make([]int32, v.recv)
							for i := range flat {
								flat[i] = int32(1000*me + i)
							}
							for i := range want {
								want[i] = int32(-1000*me - i)
							}
							before := slices.Clone(want)
							if err := v.slices(flat, want); err != nil {
								t.Fatalf("%s on slices: %v", v.name, err)
							}
							s, r := spreadOut(way+me, v.send), spreadOut(way/3+me, v.recv)
							check := func(err error) {
								if err == nil {
									err = s.equals(flat)
								}
								if err == nil {
									err = r.equals(want)
								}
								if err != nil {
									t.Fatalf("%s of %d, root %d, rank %d of %d, way %d: %v", v.name, block, root, me, n, way, err)
								}
							}
							load := func() { s.load(flat); r.load(before) }
							load()
							switch (way + i) % 4 {
							case 0:
								check(v.do(s, r))
							case 1:
								q := v.start(s, r)
								check(waited(q))
							case 2:
								q := v.prepare(s, r)
								for range 2 {
									load()
									if err := q.Start(); err != nil {
										t.Fatal(err)
									}
									_, err := q.Wait()
									check(err)
								}
								if err := q.Free(); err != nil {
									t.Fatal(err)
								}
							default:
								if me%2 == 0 {
									check(v.do(s, r))
								} else {
									got := slices.Clone(before)
									if err := v.slices(flat, got); err != nil || !slices.Equal(got, want) {
										t.Fatalf("%s on slices beside Buffers: %v, %v, want %v", v.name, err, got, want)
									}
								}
							}
						}
					}
				}
			}
		})
	}
}
