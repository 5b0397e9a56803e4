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

// labelled says in each message of a test in which part of it that was.
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

// space is a window of elements of T as tests use it: whatever its kind, element i of
// rank r is at displacement at(r, i).
type space[T any] struct {
	mpi.Win[T]
	kind string
	mem  []T     // the own elements
	addr []int64 // of dynamic windows: where each rank's elements begin
	size int64   // of an element in a dynamic window, in bytes
}

func (s *space[T]) at(rank, i int) int {
	if s.addr == nil || rank < 0 {
		return i
	}
	return int(s.addr[rank] + int64(i)*s.size)
}

// hold locks a rank and returns when the lock is held, which Lock alone does not promise of a
// rank on another host: the first flush does.
func (s *space[T]) hold(kind mpi.LockType, rank int) error {
	err := s.Lock(kind, rank, 0)
	if err == nil {
		if err = s.Flush(rank); err != nil {
			s.Unlock(rank) // it ends the epoch, and tells the same
		}
	}
	return err
}

// spaceKinds are the ways to make a window. Each comes to another way through the
// engine: memory that others map, that they reach through the kernel, by frames.
var spaceKinds = []string{"create", "create over AllocMem", "allocate", "shared", "dynamic", "dynamic over AllocMem"}

// newSpace makes a window of n elements in each rank, nil if that kind is impossible
// among these ranks.
func newSpace[T mpi.Elem](t testing.TB, c *mpi.Comm, kind string, n int, info *mpi.Info) *space[T] {
	t.Helper()
	if testrun.Race && (kind == "create" || kind == "dynamic") && strings.Contains(t.Name(), "/shm") {
		// What orders accesses to the Go heap there is in memory that the race detector
		// does not see: it would take what others have had done by this process's service
		// for races. Over the other fabrics it sees all.
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
		if s.mem = make([]T, n); kind != "create" {
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
		if s.mem = make([]T, n); kind != "dynamic" {
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

// free frees the window and the memory under it.
func (s *space[T]) free(t testing.TB, c *mpi.Comm) {
	t.Helper()
	ok(t, s.Free())
	if s.kind == "create over AllocMem" || s.kind == "dynamic over AllocMem" {
		ok(t, mpi.FreeMem(c, s.mem))
	}
}

// canShare reports whether all of c share memory: are on one host, and not by choice of
// the fabric without it.
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

// onSpaces runs fn on a window of every kind in turn.
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

// onWindows runs fn as four ranks over every fabric, and over pretended hosts of two
// ranks each.
func onWindows(t *testing.T, fn func(t testing.TB, c *mpi.Comm)) {
	t.Helper()
	mpitest.Run(t, 4, fn)
	for _, fabric := range testrun.Fabrics("inproc@0110", "shm@0110") {
		t.Run(fabric, func(t *testing.T) { mpitest.On(t, fabric, 4, fn) })
	}
}

// epoch is a way to synchronise: what all members do around the accesses of each.
type epoch struct {
	name    string
	open    func(w *mpi.Window) error
	flush   func(w *mpi.Window, target int) error // nil: not possible
	close   func(w *mpi.Window) error
	passive bool
}

// epochs are all ways in which everybody may access everybody.
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

// pointerTo is where v is, for atomics.
func pointerTo[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }
