package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// collectiveForm is one way to call a collective.
type collectiveForm struct {
	form string
	call func() error
}

// collectiveForms calls a collective in its three forms: the persistent one twice.
func collectiveForms(blocking func() error, nonblocking, persistent func() mpi.Request) []collectiveForm {
	return []collectiveForm{
		{"blocking", blocking},
		{"nonblocking", func() error { return waited(nonblocking()) }},
		{"persistent", func() error {
			r := persistent()
			for range 2 {
				if err := r.Start(); err != nil {
					return err
				}
				if _, err := r.Wait(); err != nil {
					return err
				}
			}
			return r.Free()
		}},
	}
}

// movesData calls every collective on elements that of makes from small numbers, and compares
// with the results that are computed here.
func movesData[T mpi.Elem](c *mpi.Comm, of func(i int) T) error {
	n, me := c.Size(), c.Rank()
	root := n / 2
	const count = 3
	// part is what one rank sends to another; reduced is the sum over ranks.
	part := func(from, to int) []T {
		s := make([]T, count)
		for i := range s {
			s[i] = of((from*5 + to*3 + i) % 7)
		}
		return s
	}
	row := func(from int) (all []T) {
		for to := range n {
			all = append(all, part(from, to)...)
		}
		return all
	}
	column := func(to int) (all []T) {
		for from := range n {
			all = append(all, part(from, to)...)
		}
		return all
	}
	var odd, displs []int // counts of blocks of unequal length with gaps
	at := 0
	for r := range n {
		odd = append(odd, r%3)
		displs = append(displs, at+1)
		at += r%3 + 1
	}
	block := func(from, to, k int) []T { return slices.Repeat(part(from, to), 2)[:k] }
	check := func(what string, calls []collectiveForm, got func() []T, want []T, reset func()) error {
		for _, x := range calls {
			reset()
			if err := x.call(); err != nil {
				return fmt.Errorf("%s %s: %w", x.form, what, err)
			}
			if g := got(); !slices.Equal(g, want) {
				return fmt.Errorf("%s %s on rank %d of %d: %v, want %v", x.form, what, me, n, g, want)
			}
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		return nil
	}
	var recv []T
	clean := func(size int) func() { return func() { recv = make([]T, size) } }
	all := func() []T { return recv }
	atRoot := func(want []T, otherwise int) []T {
		if me == root {
			return want
		}
		return make([]T, otherwise)
	}
	var packed, spread []T // results of a Gatherv without and with displacements
	spread = make([]T, at+1)
	for r := range n {
		packed = append(packed, block(r, 0, odd[r])...)
		copy(spread[displs[r]:], block(r, 0, odd[r]))
	}
	var toSend, toRecv []T // for an Alltoallv in which r receives r%3 elements from each rank
	var recvCounts []int
	for r := range n {
		toSend = append(toSend, block(me, r, odd[r])...)
		toRecv = append(toRecv, block(r, me, odd[me])...)
		recvCounts = append(recvCounts, odd[me])
	}
	return errors.Join(
		check("Bcast", collectiveForms(
			func() error { return mpi.Bcast(c, recv, root) },
			func() mpi.Request { return mpi.Ibcast(c, recv, root) },
			func() mpi.Request { return mpi.BcastInit(c, recv, root) },
		), all, part(root, 0), func() {
			recv = make([]T, count)
			if me == root {
				recv = part(root, 0)
			}
		}),
		check("Gather", collectiveForms(
			func() error { return mpi.Gather(c, part(me, root), recv, root) },
			func() mpi.Request { return mpi.Igather(c, part(me, root), recv, root) },
			func() mpi.Request { return mpi.GatherInit(c, part(me, root), recv, root) },
		), all, atRoot(column(root), n*count), clean(n*count)),
		check("Gatherv", collectiveForms(
			func() error { return mpi.Gatherv(c, block(me, 0, odd[me]), recv, odd, displs, root) },
			func() mpi.Request { return mpi.Igatherv(c, block(me, 0, odd[me]), recv, odd, displs, root) },
			func() mpi.Request { return mpi.GathervInit(c, block(me, 0, odd[me]), recv, odd, displs, root) },
		), all, atRoot(spread, len(spread)), clean(len(spread))),
		check("Allgather", collectiveForms(
			func() error { return mpi.Allgather(c, part(me, 0), recv) },
			func() mpi.Request { return mpi.Iallgather(c, part(me, 0), recv) },
			func() mpi.Request { return mpi.AllgatherInit(c, part(me, 0), recv) },
		), all, column(0), clean(n*count)),
		check("Allgatherv", collectiveForms(
			func() error { return mpi.Allgatherv(c, block(me, 0, odd[me]), recv, odd, nil) },
			func() mpi.Request { return mpi.Iallgatherv(c, block(me, 0, odd[me]), recv, odd, nil) },
			func() mpi.Request { return mpi.AllgathervInit(c, block(me, 0, odd[me]), recv, odd, nil) },
		), func() []T { return recv[:len(packed)] }, packed, clean(len(packed)+1)),
		check("Scatter", collectiveForms(
			func() error { return mpi.Scatter(c, row(root), recv, root) },
			func() mpi.Request { return mpi.Iscatter(c, row(root), recv, root) },
			func() mpi.Request { return mpi.ScatterInit(c, row(root), recv, root) },
		), all, part(root, me), clean(count)),
		check("Scatterv", collectiveForms(
			func() error { return mpi.Scatterv(c, spread, odd, displs, recv, root) },
			func() mpi.Request { return mpi.Iscatterv(c, spread, odd, displs, recv, root) },
			func() mpi.Request { return mpi.ScattervInit(c, spread, odd, displs, recv, root) },
		), all, block(me, 0, odd[me]), clean(odd[me])),
		check("Alltoall", collectiveForms(
			func() error { return mpi.Alltoall(c, row(me), recv) },
			func() mpi.Request { return mpi.Ialltoall(c, row(me), recv) },
			func() mpi.Request { return mpi.AlltoallInit(c, row(me), recv) },
		), all, column(me), clean(n*count)),
		check("Alltoallv", collectiveForms(
			func() error { return mpi.Alltoallv(c, toSend, odd, nil, recv, recvCounts, nil) },
			func() mpi.Request { return mpi.Ialltoallv(c, toSend, odd, nil, recv, recvCounts, nil) },
			func() mpi.Request { return mpi.AlltoallvInit(c, toSend, odd, nil, recv, recvCounts, nil) },
		), all, toRecv, clean(len(toRecv))),
	)
}

// K, COL-17: the collectives that move data, in all forms and on elements of
// every kind.
func TestCOL17_MovingCollectives(t *testing.T) {
	type celsius float32
	for _, n := range []int{1, 2, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			for _, err := range []error{
				movesData(c, func(i int) bool { return i%2 == 0 }),
				movesData(c, func(i int) int8 { return int8(-i) }),
				movesData(c, func(i int) uint16 { return uint16(1000 * i) }),
				movesData(c, func(i int) int { return -i << 40 }),
				movesData(c, func(i int) celsius { return celsius(i) / 4 }),
				movesData(c, func(i int) complex128 { return complex(float64(i), -1) }),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// K, COL-09, 12, 17: the reductions in all forms. Rank r gives r+1 times i+1.
func TestCOL17_Reductions(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			me, root := c.Rank(), n-1
			sums := func(ranks, size int) []int {
				s := make([]int, size)
				for i := range s {
					s[i] = ranks * (ranks + 1) / 2 * (i + 1)
				}
				return s
			}
			gives := func(size int) []int {
				s := make([]int, size)
				for i := range s {
					s[i] = (me + 1) * (i + 1)
				}
				return s
			}
			var recv []int
			counts := make([]int, n)
			before, total := 0, 0
			for r := range counts {
				counts[r] = (r * 2) % 3
				total += counts[r]
				if r < me {
					before += counts[r]
				}
			}
			check := func(what string, want []int, calls []collectiveForm) {
				for _, x := range calls {
					recv = make([]int, len(want))
					if err := x.call(); err != nil {
						t.Errorf("%s %s: %v", x.form, what, err)
					} else if !slices.Equal(recv, want) {
						t.Errorf("%s %s on rank %d: %v, want %v", x.form, what, me, recv, want)
					}
				}
			}
			at := func(want []int, here bool) []int {
				if here {
					return want
				}
				return make([]int, len(want))
			}
			const k = 4
			check("Reduce", at(sums(n, k), me == root), collectiveForms(
				func() error { return mpi.Reduce(c, gives(k), recv, mpi.Sum, root) },
				func() mpi.Request { return mpi.Ireduce(c, gives(k), recv, mpi.Sum, root) },
				func() mpi.Request { return mpi.ReduceInit(c, gives(k), recv, mpi.Sum, root) }))
			check("Allreduce", sums(n, k), collectiveForms(
				func() error { return mpi.Allreduce(c, gives(k), recv, mpi.Sum) },
				func() mpi.Request { return mpi.Iallreduce(c, gives(k), recv, mpi.Sum) },
				func() mpi.Request { return mpi.AllreduceInit(c, gives(k), recv, mpi.Sum) }))
			check("Scan", sums(me+1, k), collectiveForms(
				func() error { return mpi.Scan(c, gives(k), recv, mpi.Sum) },
				func() mpi.Request { return mpi.Iscan(c, gives(k), recv, mpi.Sum) },
				func() mpi.Request { return mpi.ScanInit(c, gives(k), recv, mpi.Sum) }))
			check("Exscan", at(sums(me, k), me > 0), collectiveForms(
				func() error { return mpi.Exscan(c, gives(k), recv, mpi.Sum) },
				func() mpi.Request { return mpi.Iexscan(c, gives(k), recv, mpi.Sum) },
				func() mpi.Request { return mpi.ExscanInit(c, gives(k), recv, mpi.Sum) }))
			check("ReduceScatterBlock", sums(n, k*n)[me*k:(me+1)*k], collectiveForms(
				func() error { return mpi.ReduceScatterBlock(c, gives(k*n), recv, mpi.Sum) },
				func() mpi.Request { return mpi.IreduceScatterBlock(c, gives(k*n), recv, mpi.Sum) },
				func() mpi.Request { return mpi.ReduceScatterBlockInit(c, gives(k*n), recv, mpi.Sum) }))
			check("ReduceScatter", sums(n, total)[before:before+counts[me]], collectiveForms(
				func() error { return mpi.ReduceScatter(c, gives(total), recv, counts, mpi.Sum) },
				func() mpi.Request { return mpi.IreduceScatter(c, gives(total), recv, counts, mpi.Sum) },
				func() mpi.Request { return mpi.ReduceScatterInit(c, gives(total), recv, counts, mpi.Sum) }))
			check("Barrier", nil, collectiveForms(c.Barrier, c.Ibarrier, c.BarrierInit))

			one, err := mpi.AllreduceOne(c, me+1, mpi.Sum)
			if want := n * (n + 1) / 2; err != nil || one != want {
				t.Errorf("AllreduceOne %d, %v, want %d", one, err, want)
			}
			one, err = mpi.BcastOne(c, me, root)
			if err != nil || one != root {
				t.Errorf("BcastOne %d, %v, want %d", one, err, root)
			}
			one, err = mpi.ExscanOne(c, me+1, mpi.Sum)
			if err != nil || one != me*(me+1)/2 {
				t.Errorf("ExscanOne %d, %v, want %d", one, err, me*(me+1)/2)
			}
			ranks, err := mpi.AllgatherOne(c, me)
			for r := range n {
				if err != nil || len(ranks) != n || ranks[r] != r {
					t.Errorf("AllgatherOne %v, %v", ranks, err)
					break
				}
			}
		})
	}
}
