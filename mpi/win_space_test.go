package mpi_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// labelled adds to each message of a test the part of the test.
type labelled struct {
	testing.TB
	label string
}

func (l labelled) Error(args ...any) {
	l.Helper()
	l.TB.Errorf("%s: %s", l.label, fmt.Sprint(args...))
}

func (l labelled) Errorf(format string, args ...any) {
	l.Helper()
	l.TB.Errorf("%s: %s", l.label, fmt.Sprintf(format, args...))
}

func (l labelled) Fatal(args ...any) {
	l.Helper()
	l.TB.Fatalf("%s: %s", l.label, fmt.Sprint(args...))
}

func (l labelled) Fatalf(format string, args ...any) {
	l.Helper()
	l.TB.Fatalf("%s: %s", l.label, fmt.Sprintf(format, args...))
}

// space is a window of elements of T for tests: for windows of any kind, element i of rank r is
// at displacement at(r, i).
type space[T any] struct {
	mpi.Win[T]
	kind string
	mem  []T     // this rank's elements
	addr []int64 // of dynamic windows: the addresses of each rank's elements
	size int64   // of an element in a dynamic window, in bytes
}

func (s *space[T]) at(rank, i int) int {
	if s.addr == nil || rank < 0 {
		return i
	}
	return int(s.addr[rank] + int64(i)*s.size)
}

// hold locks a rank and returns when the lock is held. For a rank on another host Lock alone
// does not guarantee that, but the first flush does.
func (s *space[T]) hold(kind mpi.LockType, rank int) error {
	err := s.Lock(kind, rank, 0)
	if err == nil {
		err = s.Flush(rank)
		if err != nil {
			s.Unlock(rank) // ends the epoch, and returns the same error
		}
	}
	return err
}

// spaceKinds are the ways to make a window. Each uses another path through the engine: memory
// that others map, or that they reach through the kernel, or by frames.
var spaceKinds = []string{"create", "create over AllocMem", "allocate", "shared", "dynamic", "dynamic over AllocMem"}

// newSpace makes a window of n elements in each rank, or returns nil if these ranks cannot have
// that kind.
func newSpace[T mpi.Elem](t testing.TB, c *mpi.Comm, kind string, n int, info *mpi.Info) *space[T] {
	t.Helper()
	if testrun.Race && (kind == "create" || kind == "dynamic") && strings.Contains(t.Name(), "/shm") {
		// The synchronisation of accesses to the Go heap is in memory there that the race
		// detector does not see: it would report accesses that this process's service makes for
		// others as races. On the other fabrics it sees the synchronisation.
		return nil
	}
	s := &space[T]{kind: kind}
	var err error
	allocated := func() []T {
		mem, err := mpi.AllocMem[T](c, n)
		ok(t, err)
		return mem
	}
	switch kind {
	case "create", "create over AllocMem":
		s.mem = make([]T, n)
		if kind != "create" {
			s.mem = allocated()
		}
		s.Win, err = mpi.WinCreate(c, s.mem, info)
	case "allocate":
		s.Win, err = mpi.WinAllocate[T](c, n, info)
		s.mem = s.Local()
	case "shared":
		if !canShare(t, c) {
			return nil
		}
		s.Win, err = mpi.WinAllocateShared[T](c, n, info)
		s.mem = s.Local()
	case "dynamic", "dynamic over AllocMem":
		s.mem = make([]T, n)
		if kind != "dynamic" {
			s.mem = allocated()
		}
		s.Window, err = c.WinCreateDynamic(info)
		if err == nil && n > 0 {
			err = mpi.Attach(s.Window, s.mem)
		}
		if err == nil {
			s.addr, err = mpi.AllgatherOne(c, mpi.Address(s.mem))
		}
		d, failed := mpi.TypeOf[T]()
		ok(t, failed)
		_, extent, failed := d.Extent()
		ok(t, failed)
		s.size = int64(extent)
	default:
		t.Fatalf("no kind %q", kind)
	}
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	if len(s.mem) != n {
		t.Fatalf("%s: %d elements of memory, want %d", kind, len(s.mem), n)
	}
	return s
}

// free frees the window and its memory.
func (s *space[T]) free(t testing.TB, c *mpi.Comm) {
	t.Helper()
	ok(t, s.Free())
	if s.kind == "create over AllocMem" || s.kind == "dynamic over AllocMem" {
		ok(t, mpi.FreeMem(c, s.mem))
	}
}

// canShare reports whether all members of c share memory: they are on one host, with a fabric
// that shares memory.
func canShare(t testing.TB, c *mpi.Comm) bool {
	t.Helper()
	w, err := mpi.WinAllocateShared[int8](c, 1)
	if err != nil {
		wantClass(t, err, mpi.ErrRMAShared)
		return false
	}
	ok(t, w.Free())
	return true
}

// onSpaces runs fn on one window of every kind after the other.
func onSpaces[T mpi.Elem](t testing.TB, c *mpi.Comm, n int, fn func(t testing.TB, s *space[T])) {
	t.Helper()
	for _, kind := range spaceKinds {
		l := labelled{t, kind}
		if s := newSpace[T](l, c, kind, n, nil); s != nil {
			fn(l, s)
			s.free(l, c)
		}
	}
}

// onWindows runs fn as four ranks over every fabric, and over two simulated hosts with two ranks
// each.
func onWindows(t *testing.T, fn func(t testing.TB, c *mpi.Comm)) {
	t.Helper()
	mpitest.Run(t, 4, fn)
	for _, fabric := range testrun.Fabrics("inproc@0110", "shm@0110") {
		t.Run(fabric, func(t *testing.T) { mpitest.On(t, fabric, 4, fn) })
	}
}

// epoch is a way to synchronise: the calls that all members make around their accesses.
type epoch struct {
	name    string
	open    func(w *mpi.Window) error
	flush   func(w *mpi.Window, target int) error // nil: not possible
	close   func(w *mpi.Window) error
	passive bool
}

// epochs are all ways in which every member may access every other.
func epochs(t testing.TB, c *mpi.Comm) []epoch {
	all, err := c.Group()
	ok(t, err)
	return []epoch{
		{name: "fence", open: func(w *mpi.Window) error { return w.Fence(0) },
			close: func(w *mpi.Window) error { return w.Fence(0) }},
		{name: "post-start", open: func(w *mpi.Window) error {
			if err := w.Post(all, 0); err != nil {
				return err
			}
			return w.Start(all, 0)
		}, close: func(w *mpi.Window) error {
			if err := w.Complete(); err != nil {
				return err
			}
			return w.Wait()
		}},
		{name: "lock", open: func(w *mpi.Window) error {
			for r := range c.Size() {
				if err := w.Lock(mpi.LockShared, r, 0); err != nil {
					return err
				}
			}
			return nil
		}, flush: (*mpi.Window).Flush, close: func(w *mpi.Window) error {
			for r := range c.Size() {
				if err := w.Unlock(r); err != nil {
					return err
				}
			}
			return c.Barrier()
		}, passive: true},
		{name: "lock_all", open: func(w *mpi.Window) error { return w.LockAll(0) },
			flush: func(w *mpi.Window, _ int) error { return w.FlushAll() },
			close: func(w *mpi.Window) error {
				if err := w.UnlockAll(); err != nil {
					return err
				}
				return c.Barrier()
			}, passive: true},
	}
}

// pointerTo is the address of v, for atomics.
func pointerTo[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }
