package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// rowsOf are the rows of a matrix that member r of n has; some members have none.
func rowsOf(r, n, rows int) (first, count int) {
	share := func(r int) int { return r * r * rows / (n * n) }
	if r == 1 {
		return share(1), share(2) - share(1)
	}
	if r == 0 {
		return 0, share(1)
	}
	return share(r), share(r+1) - share(r)
}

// transpose is an m by n matrix distributed by rows, its transpose distributed by rows, and the
// Buffers of an Alltoallw between the two, with a different type for every pair.
type transpose struct {
	from, to   []float64
	send, recv []mpi.Buffer
}

func newTranspose(c *mpi.Comm, m, n int) *transpose {
	me, size := c.Rank(), c.Size()
	_, mine := rowsOf(me, size, m)   // rows of the matrix
	_, theirs := rowsOf(me, size, n) // rows of its transpose
	t := &transpose{from: make([]float64, mine*n), to: make([]float64, theirs*m)}
	for r := range size {
		col, cols := rowsOf(r, size, n)
		block := committed(mpi.TypeVector(mine, cols, n, typeOf[float64]()))
		t.send = append(t.send, mpi.BufOf(t.from[min(col, len(t.from)):], min(mine, 1)*min(cols, 1), block))
		row, rows := rowsOf(r, size, m)
		// A row of the received data is a column here.
		column := committed(mpi.TypeResized(committed(mpi.TypeVector(theirs, 1, m, typeOf[float64]())), 0, 8))
		t.recv = append(t.recv, mpi.BufOf(t.to[min(row, len(t.to)):], min(theirs, 1)*rows, column))
	}
	return t
}

// load sets the elements to values that depend on row i, column j and the round.
func (t *transpose) load(c *mpi.Comm, m, n, round int) {
	first, count := rowsOf(c.Rank(), c.Size(), m)
	for i := range count {
		for j := range n {
			t.from[i*n+j] = float64(round*1_000_000 + (first+i)*1000 + j)
		}
	}
	clear(t.to)
}

func (t *transpose) verify(c *mpi.Comm, m, n, round int) error {
	first, count := rowsOf(c.Rank(), c.Size(), n)
	for j := range count {
		for i := range m {
			if got, want := t.to[j*m+i], float64(round*1_000_000+i*1000+first+j); got != want {
				return fmt.Errorf("row %d of the transpose has %v in column %d, want %v", first+j, got, i, want)
			}
		}
	}
	return nil
}

// COL-17, 6.8: an Alltoallw with a different type for every pair transposes a matrix with some
// empty blocks, in all three forms.
func TestCOL17_AlltoallwTransposes(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			for _, size := range [][2]int{{1, 1}, {7, 12}, {90, 301}} {
				rows, cols := size[0], size[1]
				x := newTranspose(c, rows, cols)
				check := func(round int, err error) {
					if err == nil {
						err = x.verify(c, rows, cols, round)
					}
					if err != nil {
						t.Fatalf("%d by %d on %d, round %d: %v", rows, cols, n, round, err)
					}
				}
				x.load(c, rows, cols, 1)
				check(1, c.Alltoallw(x.send, x.recv))
				x.load(c, rows, cols, 2)
				send, recv := slices.Clone(x.send), slices.Clone(x.recv)
				q := c.Ialltoallw(send, recv)
				clear(send) // the call does not use them any more
				clear(recv)
				check(2, waited(q))
				p := c.AlltoallwInit(x.send, x.recv)
				for round := 3; round < 6; round++ {
					x.load(c, rows, cols, round)
					if err := p.Start(); err != nil {
						t.Fatal(err)
					}
					_, err := p.Wait()
					check(round, err)
				}
				if err := p.Free(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// COL-16, 6.2.2: in place a member passes its own block of the other Buffer.
func TestCOL16_BuffersInPlace(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		// Elements of two numbers with a gap after each: block r is elements 2r and 2r+1.
		pair := committed(mpi.TypeVector(2, 1, 2, typeOf[int32]()))
		gapped := committed(mpi.TypeResized(pair, 0, 16))
		mem := make([]int32, 4*2*n)
		load := func(whole bool) {
			for i := range mem {
				mem[i] = untouched
				if i%2 == 0 && (whole || i/8 == me) {
					mem[i] = int32(1000*me + i)
				}
			}
		}
		verify := func(what string, err error, from func(i int) int32) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for i, x := range mem {
				want := int32(untouched)
				if i%2 == 0 {
					want = from(i)
				}
				if x != want {
					t.Fatalf("%s at rank %d: number %d is %d, want %d in %v", what, me, i, x, want, mem)
				}
			}
		}
		all, own := mpi.BufOf(mem, 2*n, gapped), mpi.BufAt(mem, 8*me, 2, gapped)
		load(false)
		verify("Allgather", c.Allgather(own, all), func(i int) int32 { return int32(1000*(i/8) + i) })
		load(false)
		verify("Allgatherv", c.Allgatherv(own, all, []int{2, 2, 2}, nil), func(i int) int32 { return int32(1000*(i/8) + i) })
		load(true)
		verify("Alltoall", c.Alltoall(all, all), func(i int) int32 { return int32(1000*(i/8) + i%8 + 8*me) })
		load(true)
		verify("Alltoallv", c.Alltoallv(all, []int{2, 2, 2}, nil, all, []int{2, 2, 2}, nil), func(i int) int32 { return int32(1000*(i/8) + i%8 + 8*me) })
		load(true)
		var blocks []mpi.Buffer
		for r := range n {
			blocks = append(blocks, mpi.BufAt(mem, 8*r, 2, gapped))
		}
		verify("Alltoallw", c.Alltoallw(blocks, blocks), func(i int) int32 { return int32(1000*(i/8) + i%8 + 8*me) })
		const root = 1
		load(false)
		err := c.Gather(own, all, root)
		verify("Gather", err, func(i int) int32 {
			if me == root || i/8 == me {
				return int32(1000*(i/8) + i)
			}
			return untouched
		})
		load(me == root)
		err = c.Scatter(all, own, root)
		verify("Scatter", err, func(i int) int32 {
			if me == root || i/8 == me {
				return int32(1000*root + i)
			}
			return untouched
		})
	})
}

// TRM-02: a Buffer that is not significant at a process may be invalid there; a type may be
// freed after the Buffer has been made; and the zero Buffer is an empty one.
func TestTRM02_BuffersThatDoNotCount(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		const root = 2
		raw, err := mpi.TypeVector(2, 1, 2, typeOf[int64]())
		if err != nil {
			t.Fatal(err)
		}
		bad := mpi.BufOf(make([]int64, 3), 1, raw) // not committed
		if err := raw.Commit(); err != nil {
			t.Fatal(err)
		}
		mem := []int64{int64(c.Rank()), -1, int64(10 + c.Rank())}
		good := mpi.BufOf(mem, 1, raw)
		if err := raw.Free(); err != nil {
			t.Fatal(err)
		}
		all := make([]int64, 6)
		recv, send := bad, bad
		if c.Rank() == root {
			recv, send = mpi.Buf(all), mpi.Buf(all)
		}
		if err := c.Gather(good, recv, root); err != nil {
			t.Error(err)
		}
		if c.Rank() == root && !slices.Equal(all, []int64{0, 10, 1, 11, 2, 12}) {
			t.Error("gathered:", all)
		}
		if err := c.Scatter(send, good, root); err != nil {
			t.Error(err)
		}
		if !slices.Equal(mem, []int64{int64(c.Rank()), -1, int64(10 + c.Rank())}) {
			t.Error("scattered:", mem)
		}
		var nothing mpi.Buffer
		for what, err := range map[string]error{
			"Bcast":     c.Bcast(nothing, root),
			"Gather":    c.Gather(nothing, nothing, root),
			"Allgather": c.Allgather(nothing, nothing),
			"Alltoall":  c.Alltoall(nothing, nothing),
			"Alltoallw": c.Alltoallw(make([]mpi.Buffer, 3), make([]mpi.Buffer, 3)),
		} {
			if err != nil {
				t.Errorf("%s of nothing: %v", what, err)
			}
		}
	})
}

// DT-13, DT-14, 6.1: an invalid Buffer is an error of the standard's class that names the call,
// the communicator and numbers; after that the members' collectives still match.
func TestDT14_BuffersOfCollectivesThatAreWrong(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		me := c.Rank()
		one := typeOf[int32]()
		raw, err := mpi.TypeVector(2, 1, 2, one)
		if err != nil {
			t.Fatal(err)
		}
		twice := committed(mpi.TypeHindexed([]int{1, 1}, []int{0, 2}, one))
		three := committed(mpi.TypeVector(3, 1, 2, one))
		gaps := committed(mpi.TypeResized(one, 0, 8))
		mem, mem2 := make([]int32, 40), make([]int32, 40)
		uncommitted := mpi.BufOf(mem, 1, raw)
		overlapping := mpi.BufOf(mem, 2, twice)
		four := mpi.BufOf(mem2, 4, gaps)
		two := mpi.BufOf(mem2, 2, gaps)
		threes := mpi.BufOf(mem, 4, three)
		list := func(b mpi.Buffer) []mpi.Buffer { return []mpi.Buffer{b, b} }
		for what, x := range map[string]struct {
			err  error
			want mpi.Class
			text string
		}{
			"uncommitted":           {c.Bcast(uncommitted, 0), mpi.ErrType, "mpi: Bcast on world: type"},
			"uncommitted request":   {waited(c.Iallgather(uncommitted, four)), mpi.ErrType, "Iallgather on world"},
			"beyond its memory":     {c.Allgather(mpi.BufOf(mem, 50, gaps), four), mpi.ErrBuffer, "Allgather on world"},
			"negative count":        {waited(c.AlltoallInit(mpi.BufOf(mem, -1, gaps), four)), mpi.ErrCount, "AlltoallInit on world: count -1"},
			"overlap in Bcast":      {c.Bcast(overlapping, 1-me), mpi.ErrType, "overlap: 2 x hindexed"},
			"overlap in Allgather":  {c.Allgather(mpi.Buf(mem2[:2]), overlapping), mpi.ErrType, "overlap: 2 x hindexed"},
			"overlap in Alltoallw":  {c.Alltoallw(list(mpi.Buf(mem2[:4])), list(overlapping)), mpi.ErrType, "overlap: 2 x hindexed"},
			"root":                  {waited(c.Igather(two, four, 2)), mpi.ErrRoot, "Igather on world: root 2 in a communicator of 2"},
			"short":                 {c.Allgather(four, four), mpi.ErrCount, "receive buffer of 4 elements for 8"},
			"part of an element":    {c.Allgather(two, threes), mpi.ErrCount, "blocks of 8 bytes are not a whole number of the receive buffer's elements of 12"},
			"part of one, Scatter":  {c.Scatter(threes, two, me), mpi.ErrCount, "blocks of 8 bytes are not a whole number of the send buffer's elements of 12"},
			"part of one, Alltoall": {c.Alltoall(four, threes), mpi.ErrCount, "blocks of 8 bytes"},
			"not for all":           {c.Alltoall(mpi.BufOf(mem2, 3, gaps), threes), mpi.ErrCount, "3 elements is not a block for each of 2"},
			"counts":                {c.Allgatherv(two, threes, []int{1}, nil), mpi.ErrCount, "1 receive counts for 2 members"},
			"displs":                {c.Allgatherv(two, threes, []int{1, 1}, []int{0, 1, 2}), mpi.ErrArg, "3 receive displacements for 2 members"},
			"beyond":                {c.Gatherv(two, threes, []int{1, 2}, []int{0, 3}, me), mpi.ErrCount, "receive block of rank 1: 2 elements at 3 of a buffer of 4"},
			"own block":             {c.Gatherv(two, threes, []int{1, 1}, nil, me), mpi.ErrCount, fmt.Sprintf("send buffer of 8 bytes, the block of rank %d is of 12", me)},
			"own block, Scatterv":   {waited(c.Iscatterv(threes, []int{1, 1}, nil, two, me)), mpi.ErrCount, "receive buffer of 8 bytes"},
			"to itself":             {c.Alltoallv(four, []int{1, 1}, nil, threes, []int{1, 1}, nil), mpi.ErrCount, fmt.Sprintf("rank %d sends itself 4 bytes and receives 12", me)},
			"in part in place":      {c.Allgather(mpi.BufAt(mem, 4*me, 2, one), mpi.BufOf(mem, 12, gaps)), mpi.ErrBuffer, "in place the one is the caller's own block"},
			"how many, Alltoallw":   {c.Alltoallw(list(two), []mpi.Buffer{two}), mpi.ErrCount, "2 send and 1 receive buffers for 2 members"},
			"to itself, Alltoallw":  {c.Alltoallw(list(two), list(threes)), mpi.ErrCount, fmt.Sprintf("rank %d sends itself 8 bytes and receives 48", me)},
			"uncommitted Alltoallw": {waited(c.Ialltoallw(list(two), []mpi.Buffer{two, uncommitted})), mpi.ErrType, "Ialltoallw on world"},
			"some blocks in place":  {c.Alltoallw(list(two), []mpi.Buffer{two, mpi.BufOf(mem, 2, gaps)}), mpi.ErrBuffer, "some blocks are in place"},
			"nil":                   {(*mpi.Comm)(nil).Alltoallw(nil, nil), mpi.ErrComm, "Alltoallw: communicator is nil"},
			"nil Bcast":             {(*mpi.Comm)(nil).Bcast(two, 0), mpi.ErrComm, "Bcast: communicator is nil"},
			"nil AllgatherInit":     {waited((*mpi.Comm)(nil).AllgatherInit(two, two)), mpi.ErrComm, "AllgatherInit: communicator is nil"},
		} {
			if !errors.Is(x.err, x.want) || !strings.Contains(x.err.Error(), x.text) {
				t.Errorf("%s: %v, want %v with %q", what, x.err, x.want, x.text)
			}
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 2 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// 6.1: Buffers whose sizes disagree are an error of the member that can detect it. Memory after
// the shorter one is not changed.
func TestBuffersOfSizesThatDisagree(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		gaps := committed(mpi.TypeResized(typeOf[int64](), 0, 24))
		for _, sizes := range [][2]int{{3, 2}, {1000, 900}, {100_000, 70_000}} {
			mem := make([]int64, 3*sizes[0])
			err := c.Bcast(mpi.BufOf(mem, sizes[c.Rank()], gaps), 0)
			if c.Rank() == 1 && !errors.Is(err, mpi.ErrTruncate) || c.Rank() == 0 && err != nil {
				t.Errorf("%d elements into %d: %v", sizes[0], sizes[1], err)
			}
			empty := mpi.BufOf(mem, 0, gaps)
			out, in := []mpi.Buffer{empty, mpi.BufOf(mem, sizes[0], gaps)}, []mpi.Buffer{empty, empty}
			if c.Rank() == 1 {
				for i := range mem {
					mem[i] = untouched
				}
				out, in = []mpi.Buffer{empty, empty}, []mpi.Buffer{mpi.BufOf(mem, sizes[1], gaps), empty}
			}
			err = c.Alltoallw(out, in)
			if c.Rank() == 1 && !errors.Is(err, mpi.ErrTruncate) || c.Rank() == 0 && err != nil {
				t.Errorf("%d elements into %d by Alltoallw: %v", sizes[0], sizes[1], err)
			}
			if c.Rank() == 1 {
				for i, x := range mem {
					if (i%3 != 0 || i >= 3*sizes[1]) && x != untouched {
						t.Fatalf("number %d of %d is %d", i, 3*sizes[1], x)
					}
				}
			}
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 2 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// A collective on Buffers allocates nothing when it is repeated, blocking or started again, on
// any fabric.
func TestCollectivesOnBuffersAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	const runs = 200
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, block := range []int{6, 20_000} {
			for i, v := range verbs(c, block, 0) {
				s, r := spreadOut(1+i%2, v.send), spreadOut(2-i%2, v.recv)
				if v.name == "Gatherv" || v.name == "Scatterv" || v.name == "Allgatherv" || v.name == "Alltoallv" {
					s, r = spreadOut(1, v.send), spreadOut(1, v.recv) // otherwise this test would compute counts
				}
				step := func() {
					if err := v.do(s, r); err != nil {
						t.Error(err)
					}
					q := v.start(s, r)
					if _, err := q.Wait(); err != nil {
						t.Error(err)
					}
				}
				allocatesNothing(t, c, v.name, runs, step)
			}
		}
		x := newTranspose(c, 20, 30)
		allocatesNothing(t, c, "Alltoallw", runs, func() {
			if err := c.Alltoallw(x.send, x.recv); err != nil {
				t.Error(err)
			}
			q := c.Ialltoallw(x.send, x.recv)
			if _, err := q.Wait(); err != nil {
				t.Error(err)
			}
		})
	})
}

// allocatesNothing makes all members repeat a step, and the first one count allocations. No
// member runs ahead of the others, since data that they have not asked for yet takes memory.
func allocatesNothing(t testing.TB, c *mpi.Comm, name string, runs int, do func()) {
	step := func() {
		do()
		if err := c.Barrier(); err != nil {
			t.Error(err)
		}
	}
	for range runs {
		step()
	}
	if c.Rank() != 0 {
		for range runs + 1 {
			step()
		}
	} else if n := testing.AllocsPerRun(runs, step); n >= 1 {
		t.Errorf("%s: %v allocations per run", name, n)
	}
}
