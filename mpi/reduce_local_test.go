package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// COL-10: ReduceLocal combines into the second slice without communication, and needs no
// communicator: inout = in op inout.
func TestCOL10_ReduceLocal(t *testing.T) {
	inout := []float64{1, 2, 3, 4}
	if err := mpi.ReduceLocal([]float64{10, 20, 30}, inout, mpi.Sum); err != nil || !slices.Equal(inout, []float64{11, 22, 33, 4}) {
		t.Errorf("Sum: %v, %v", inout, err)
	}
	flags := []bool{true, false}
	if err := mpi.ReduceLocal([]bool{true, true}, flags, mpi.Lxor); err != nil || !slices.Equal(flags, []bool{false, true}) {
		t.Errorf("Lxor: %v, %v", flags, err)
	}
	f, g := chain(3)<<32|5, chain(7)<<32|11
	maps := []chain{g}
	if err := mpi.ReduceLocal([]chain{f}, maps, mpi.CreateOp(compose, false)); err != nil || maps[0] != f.after(g) {
		t.Errorf("composition: %v, %v, want %v", maps, err, f.after(g))
	}
	if err := mpi.ReduceLocal([]int32{}, []int32{}, mpi.Max); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

func TestReduceLocalErrors(t *testing.T) {
	b := make([]float64, 4)
	bad := mpi.CreateOp(func(in, inout []float64) { panic(errors.ErrUnsupported) }, true)
	for what, x := range map[string]struct {
		err  error
		want error
		text string
	}{
		"in place":  {mpi.ReduceLocal(b, b, mpi.Sum), mpi.ErrBuffer, "mpi: ReduceLocal: the two slices share memory"},
		"overlap":   {mpi.ReduceLocal(b[:3], b[1:], mpi.Sum), mpi.ErrBuffer, "share memory"},
		"short":     {mpi.ReduceLocal(b, b[:3], mpi.Sum), mpi.ErrCount, "inout slice has 3 elements, want 4"},
		"type":      {mpi.ReduceLocal(b[:1], b[1:], mpi.Bor), mpi.ErrOp, "Bor is not defined on elements of float64"},
		"null":      {mpi.ReduceLocal(b[:1], b[1:], mpi.OpNull), mpi.ErrOp, "the operation is null"},
		"elements":  {mpi.ReduceLocal([]int{1}, []int{1}, bad), mpi.ErrOp, "made for elements of float64, not of int"},
		"panic":     {mpi.ReduceLocal(b[:1], b[1:], bad), mpi.ErrOther, "the operation panicked: unsupported operation"},
		"its cause": {mpi.ReduceLocal(b[:1], b[1:], bad), errors.ErrUnsupported, "panicked"},
	} {
		if !errors.Is(x.err, x.want) || !strings.Contains(x.err.Error(), x.text) {
			t.Errorf("%s: %v, want %v with %q", what, x.err, x.want, x.text)
		}
	}
}

func TestReduceLocalDoesNotAllocate(t *testing.T) {
	in, inout := make([]float32, 100), make([]float32, 100)
	if n := testing.AllocsPerRun(100, func() {
		if err := mpi.ReduceLocal(in, inout, mpi.Max); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The cost of a call in addition to the kernel: for one element, and for a short slice.
func BenchmarkReduceLocal(b *testing.B) {
	for _, count := range []int{1, 8, 128, 2048} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			in, inout := make([]float64, count), make([]float64, count)
			b.ReportAllocs()
			for b.Loop() {
				if err := mpi.ReduceLocal(in, inout, mpi.Sum); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Filling a table of the kernels of all operations on all types allocates nothing, not even an
// error for each undefined pair: some 3,500 errors took 0.45 MB in each process of C.
func TestCOL10_KernelsAllocateNothing(t *testing.T) {
	double, err := mpi.Predefined("MPI_DOUBLE")
	if err != nil {
		t.Fatal(err)
	}
	defined, types := 0, []mpi.Datatype{double, mpi.Byte(), mpi.Packed(), mpi.HandleSync()}
	ask := func() {
		for _, o := range []mpi.Op{mpi.Sum, mpi.Land, mpi.Band, mpi.Minloc, mpi.Replace, mpi.NoOp, mpi.OpNull} {
			for _, d := range types {
				if mpi.Internals.Kernel(o, d) != 0 {
					defined++
				}
			}
		}
	}
	if n := testing.AllocsPerRun(1, ask); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// COL-10: the two slices of ReduceLocal may lie side by side in either order. If they share an
// element the call is an error and changes nothing.
func TestCOL10_ReduceLocalSideBySide(t *testing.T) {
	const n, at = 8, 16
	for d := -n - 1; d <= n+1; d++ {
		all := make([]float64, at+2*n+2)
		for i := range all {
			all[i] = float64(i)
		}
		want := slices.Clone(all)
		err := mpi.ReduceLocal(all[at:at+n], all[at+d:at+d+n], mpi.Sum)
		if -n < d && d < n {
			wantText(t, err, mpi.ErrBuffer, "share memory")
		} else {
			ok(t, err)
			for i := range n {
				want[at+d+i] += float64(at + i)
			}
		}
		if !slices.Equal(all, want) {
			t.Fatalf("distance %d: %v, want %v", d, all, want)
		}
	}
	wantClass(t, mpi.ReduceLocal(make([]float64, n), make([]float64, n-1), mpi.Sum), mpi.ErrCount)
	ok(t, mpi.ReduceLocal[float64](nil, nil, mpi.Sum))
}
