package dtype

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// RaceEnabled is for the tests outside of the package.
const RaceEnabled = sys.Race

// EachMover calls a function with t set to each mover that this machine supports.
func EachMover(t *Type, f func() error) error {
	for _, by := range movers() {
		t.by = by
		if err := f(); err != nil {
			return fmt.Errorf("mover %d: %w", by, err)
		}
	}
	return nil
}

// eachForC calls f for each run of a program in the form that C reads.
func eachForC(n *shmfmt.Node, off int64, f func(off, size int64)) {
	numbers := func(at, length int64) []int64 {
		return unsafe.Slice((*int64)(unsafe.Add(unsafe.Pointer(n), at)), length)
	}
	node := func(at int64) *shmfmt.Node { return (*shmfmt.Node)(unsafe.Add(unsafe.Pointer(n), at)) }
	off += n.Off
	switch kind(n.Kind) {
	case run:
		f(off, n.Size)
	case loop:
		for i := range n.N {
			eachForC(node(n.Sub), off+i*n.Stride, f)
		}
	case list:
		for _, o := range numbers(n.Offs, n.N) {
			eachForC(node(n.Sub), off+o, f)
		}
	case pieces:
		cum := numbers(n.Cum, n.N+1)
		for i, o := range numbers(n.Offs, n.N) {
			f(off+o, cum[i+1]-cum[i])
		}
	case seq:
		for _, s := range numbers(n.Subs, n.N) {
			eachForC(node(s), off, f)
		}
	}
}

// RunsForC returns the runs of one element of t by the program that C reads and by the program
// of Go, or none if C does not run it. t must be committed and have been used.
func RunsForC(t *Type) (forC, own []Run) {
	r := offheap.New[shmfmt.Type]()
	t.Share(r)
	t.ShareProgram(r)
	if r.Program.Load() != 0 {
		at := programAt(r.Program.Load(), r.ProgramBytes)
		eachForC((*shmfmt.Node)(unsafe.Pointer(&at[0])), 0, func(off, size int64) { forC = append(forC, Run{off, size}) })
		t.program().each(0, func(_ *Elem, off, size int64) { own = append(own, Run{off, size}) })
	}
	t.Unshare(r)
	offheap.Free(r)
	return forC, own
}
