package mpi_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// handled is what each rank has made from the memory handle of the next rank.
type handled struct {
	parent *mpi.Window
	mem    []int64 // this rank's memory
	own    []byte  // its handle
	handle []byte  // that of the next rank
	next   int
	mpi.Win[int64]
}

// onHandles runs fn with windows of memory handles to n numbers in every kind of memory, over
// every fabric. parent is locked.
func onHandles(t *testing.T, n int, fn func(t testing.TB, c *mpi.Comm, h *handled)) {
	t.Helper()
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		for _, kind := range []string{"slice", "AllocMem"} {
			if testrun.Race && kind == "slice" && strings.Contains(t.Name(), "/shm") {
				continue // as in newSpace
			}
			h := &handled{mem: make([]int64, n), next: (c.Rank() + 1) % c.Size()}
			l := labelled{t, kind}
			if kind == "AllocMem" {
				var err error
				h.mem, err = mpi.AllocMem[int64](c, n)
				ok(l, err)
				defer mpi.FreeMem(c, h.mem)
			}
			var err error
			h.parent, err = c.WinCreateDynamic()
			ok(l, err)
			ok(l, h.parent.SetName("parent"))
			h.own, err = mpi.MemhandleCreate(h.parent, h.mem, nil)
			ok(l, err)
			h.handle = make([]byte, mpi.MaxMemoryHandleSize)
			_, err = mpi.Sendrecv(c, h.own, (c.Rank()+c.Size()-1)%c.Size(), 0, h.handle, h.next, 0)
			ok(l, err)
			h.Win, err = mpi.WinFromMemhandle[int64](h.parent, h.handle, h.next)
			ok(l, err)
			ok(l, h.parent.LockAll(0))
			fn(l, c, h)
			ok(l, h.parent.UnlockAll())
			ok(l, h.parent.Free())
		}
	})
}

// A window of a memory handle supports all accesses, on all three paths to its memory, and
// flushes; data that was put is there when its owner is told (QV-27, QV-29, QV-30).
func TestQV27_QV29_QV30_MemoryHandles(t *testing.T) {
	const n = 20000 // more than a frame holds
	onHandles(t, n, func(t testing.TB, c *mpi.Comm, h *handled) {
		if len(h.own) > mpi.MaxMemoryHandleSize {
			t.Fatalf("a handle of %d bytes", len(h.own))
		}
		all := make([]int64, n)
		for i := range all {
			all[i] = int64(1000*c.Rank() + i)
		}
		ok(t, h.Put(all, h.next, 0))
		ok(t, h.Flush(h.next))
		ok(t, h.Accumulate([]int64{5, 6}, h.next, 7, mpi.Sum))
		ok(t, h.FlushLocal(h.next))
		got, before, one, zero := make([]int64, n), int64(0), int64(1), int64(0)
		ok(t, h.FetchAndOp(&one, &before, h.next, 100, mpi.Sum))
		ok(t, h.FlushAll())
		if before != all[100] {
			t.Errorf("fetched %d, want %d", before, all[100])
		}
		compare := all[100] + 1
		ok(t, h.CompareAndSwap(&zero, &compare, &before, h.next, 100))
		ok(t, h.FlushLocalAll())
		if before != compare {
			t.Errorf("compared with %d, want %d", before, compare)
		}
		request := h.Rput([]int64{-1}, h.next, n-1)
		ok(t, second(request.Wait()))
		// A column on both sides, by the untyped window.
		number, err := mpi.TypeOf[int64]()
		ok(t, err)
		column, err := mpi.TypeVector(10, 1, 50, number)
		ok(t, err)
		ok(t, column.Commit())
		ok(t, h.Untyped().Put(mpi.Buf([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), h.next, 1000, 1, column))
		ok(t, h.Flush(h.next))
		ok(t, h.Get(got, h.next, 0))
		ok(t, h.Flush(h.next))
		want := slices.Clone(all)
		want[7], want[8], want[100], want[n-1] = want[7]+5, want[8]+6, 0, -1
		for i := range 10 {
			want[1000+50*i] = int64(i + 1)
		}
		if !slices.Equal(got, want) {
			t.Error("what is got is not what has been put")
		}
		ok(t, c.Barrier())
		last := (c.Rank() + c.Size() - 1) % c.Size()
		if h.mem[7] != int64(1000*last+7+5) || h.mem[n-1] != -1 {
			t.Errorf("the memory has %d and %d", h.mem[7], h.mem[n-1])
		}
		ok(t, h.Free())
		ok(t, c.Barrier())
		ok(t, h.parent.MemhandleRelease(h.own))
	})
}

// A process may use its own handle, for a part of the memory and with another unit, also for
// attached memory (QV-29, QV-30).
func TestQV29_QV30_OwnHandlesAndUnits(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		parent, err := c.WinCreateDynamic()
		ok(t, err)
		mem := make([]byte, 64)
		ok(t, mpi.Attach(parent, mem))
		handle, err := mpi.MemhandleCreate(parent, mem[8:40], nil)
		ok(t, err)
		w, err := mpi.Internals.WinFromMemhandle(parent, handle, 24, 4, 0, nil)
		ok(t, err)
		if w.DispUnit() != 4 {
			t.Errorf("a unit of %d", w.DispUnit())
		}
		ok(t, parent.Lock(mpi.LockShared, 0, 0))
		b := mpi.Win[byte]{Window: w}
		ok(t, b.Put([]byte("abcd"), 0, 5))
		ok(t, w.Flush(0))
		if string(mem[28:32]) != "abcd" {
			t.Errorf("the memory has %q", mem)
		}
		wantText(t, b.Put([]byte("abcde"), 0, 5), mpi.ErrRMARange, "24 bytes of the memory handle")
		wantClass(t, b.Put([]byte("a"), 0, 6), mpi.ErrRMARange)
		wantClass(t, b.Put([]byte("a"), 0, -1), mpi.ErrDisp)
		ok(t, b.Put(nil, 0, 6))
		wantClass(t, second(mpi.Internals.WinFromMemhandle(parent, handle, 33, 1, 0, nil)), mpi.ErrSize)
		wantClass(t, second(mpi.Internals.WinFromMemhandle(parent, handle, -1, 1, 0, nil)), mpi.ErrSize)
		wantClass(t, second(mpi.Internals.WinFromMemhandle(parent, handle, 8, 0, 0, nil)), mpi.ErrDisp)
		empty, err := mpi.MemhandleCreate(parent, mem[:0], nil)
		ok(t, err)
		none, err := mpi.WinFromMemhandle[byte](parent, empty, 0)
		ok(t, err)
		ok(t, none.Put(nil, 0, 0))
		wantClass(t, none.Put([]byte{1}, 0, 0), mpi.ErrRMARange)
		ok(t, none.Free())
		ok(t, w.Free())
		ok(t, parent.Unlock(0))
		ok(t, parent.MemhandleRelease(handle))
		ok(t, parent.MemhandleRelease(empty))
		ok(t, parent.Free())
	})
}

// Synchronisation is that of the parent, and passive: access is not allowed without its lock,
// nor in an epoch of another kind. The window of a handle has no synchronisation calls except
// flushes, and takes no memory of its own (QV-30, QV-31).
func TestQV31_OnlyPassiveAndOnlyTheTarget(t *testing.T) {
	onHandles(t, 4, func(t testing.TB, c *mpi.Comm, h *handled) {
		all, err := c.Group()
		ok(t, err)
		for call, err := range map[string]error{
			"Fence": h.Fence(0), "Post": h.Post(all, 0), "Start": h.Start(all, 0), "Complete": h.Complete(), "Wait": h.Wait(),
			"Test": second(h.Test()), "Lock": h.Lock(mpi.LockShared, h.next, 0), "Unlock": h.Unlock(h.next),
			"LockAll": h.LockAll(0), "UnlockAll": h.UnlockAll(), "Sync": h.Sync(), "Attach": mpi.Attach(h.Window, []byte{1}),
			"Detach": mpi.Detach(h.Window, []byte{1}), "MemhandleCreate": second(mpi.MemhandleCreate(h.Window, []byte{1}, nil)),
			"Dup": second(h.Dup()), "DupWithInfo": second(mpi.Internals.WinDupWithInfo(h.Window, nil)), "AllocSyncObjects": second(h.AllocSyncObjects(1, nil)),
			"MemhandleRelease": h.MemhandleRelease(h.own), "WinFromMemhandle": second(mpi.WinFromMemhandle[byte](h.Window, h.handle, h.next)),
		} {
			wantText(labelled{t, call}, err, mpi.ErrRMASync, "mpi: "+call, "memory handle takes puts, gets, accumulates and flushes only")
		}
		other := (h.next + 1) % c.Size()
		v := int64(1)
		accesses := func(target int) map[string]error {
			b := []int64{1}
			return map[string]error{
				"Put": h.Put(b, target, 0), "Get": h.Get(b, target, 0), "Accumulate": h.Accumulate(b, target, 0, mpi.Sum),
				"FetchAndOp": h.FetchAndOp(&v, new(int64), target, 0, mpi.Sum), "CompareAndSwap": h.CompareAndSwap(&v, &v, new(int64), target, 0),
				"Flush": h.Flush(target), "FlushLocal": h.FlushLocal(target), "Order": h.Order(target),
				"Rflush": func() error { r := h.Rflush(target); return second(r.Wait()) }(),
				"Rrput":  func() error { r := h.Rrput(b, target, 0); return second(r.Wait()) }(),
				"Rput":   func() error { r := h.Rput(b, target, 0); return second(r.Wait()) }(),
			}
		}
		for _, target := range []int{other, -1, c.Size()} {
			for call, err := range accesses(target) {
				wantText(labelled{t, call}, err, mpi.ErrRank, "mpi: "+call)
			}
		}
		ok(t, h.Put([]int64{1}, mpi.ProcNull, 0))
		// Without a lock, with a lock on another rank, and between fences.
		ok(t, h.parent.UnlockAll())
		refused := func(t testing.TB) {
			t.Helper()
			for call, err := range accesses(h.next) {
				wantClass(labelled{t, call}, err, mpi.ErrRMASync)
			}
			wantClass(t, h.FlushAll(), mpi.ErrRMASync)
			wantClass(t, h.OrderAll(), mpi.ErrRMASync)
		}
		refused(labelled{t, "unlocked"})
		ok(t, h.parent.Lock(mpi.LockShared, other, 0))
		refused(labelled{t, "another is locked"})
		ok(t, h.parent.Unlock(other))
		ok(t, h.parent.Fence(0))
		ok(t, h.parent.Untyped().Put(mpi.Buf([]byte{}), other, 0, 0, mustType[byte](t)))
		refused(labelled{t, "between fences"})
		ok(t, h.parent.Fence(0))
		ok(t, c.Barrier())
		if slices.Max(h.mem) != 0 {
			t.Errorf("the memory has %d", h.mem)
		}
		ok(t, c.Barrier())
		ok(t, h.parent.Lock(mpi.LockExclusive, h.next, 0))
		ok(t, h.Put([]int64{9}, h.next, 3))
		ok(t, h.parent.Unlock(h.next))
		ok(t, c.Barrier())
		if h.mem[3] != 9 {
			t.Errorf("the memory has %d", h.mem)
		}
		ok(t, h.parent.LockAll(0))
		ok(t, h.Free())
		for call, err := range accesses(h.next) {
			wantClass(labelled{t, call + " after Free"}, err, mpi.ErrWin)
		}
		wantClass(t, h.Free(), mpi.ErrWin)
	})
}

func mustType[T any](t testing.TB) mpi.Datatype {
	t.Helper()
	d, err := mpi.TypeOf[T]()
	ok(t, err)
	return d
}

// After the release of a handle every access by it is an error, of the access itself or of the
// flush after it, and accesses nothing; so is a second release (QV-32, S5).
func TestQV32_S5_NothingAfterTheRelease(t *testing.T) {
	onHandles(t, 100, func(t testing.TB, c *mpi.Comm, h *handled) {
		ok(t, h.Put([]int64{1, 2, 3}, h.next, 0))
		ok(t, h.Flush(h.next))
		ok(t, c.Barrier())
		ok(t, h.parent.MemhandleRelease(h.own))
		// The slot and the memory are used again.
		again, err := mpi.MemhandleCreate(h.parent, h.mem, nil)
		ok(t, err)
		ok(t, c.Barrier())
		wantText(t, h.parent.MemhandleRelease(h.own), mpi.ErrRMAAttach, "MemhandleRelease on parent", "has been released")
		wantText(t, h.parent.MemhandleRelease(h.handle), mpi.ErrRank, "memory handle is of rank")
		vector, err := mpi.TypeVector(3, 1, 2, mustType[int64](t))
		ok(t, err)
		ok(t, vector.Commit())
		v, old := int64(7), make([]int64, 3)
		for call, access := range map[string]func() error{
			"Put":             func() error { return h.Put([]int64{7, 7}, h.next, 0) },
			"Put of a vector": func() error { return h.Untyped().Put(mpi.Buf([]int64{7, 7, 7}), h.next, 0, 1, vector) },
			"Get":             func() error { return h.Get(old, h.next, 0) },
			"Accumulate":      func() error { return h.Accumulate([]int64{7}, h.next, 1, mpi.Sum) },
			"GetAccumulate":   func() error { return h.GetAccumulate([]int64{7}, old[:1], h.next, 1, mpi.Sum) },
			"FetchAndOp":      func() error { return h.FetchAndOp(&v, &old[0], h.next, 2, mpi.Sum) },
			"CompareAndSwap":  func() error { three := int64(3); return h.CompareAndSwap(&v, &three, &old[0], h.next, 2) },
			"Rput":            func() error { r := h.Rput([]int64{7}, h.next, 0); return second(r.Wait()) },
		} {
			err := access()
			if err == nil {
				err = h.Flush(h.next)
			}
			wantText(labelled{t, call}, err, mpi.ErrRMARange, "handle", "released")
		}
		ok(t, c.Barrier())
		if !slices.Equal(h.mem[:4], []int64{1, 2, 3, 0}) {
			t.Errorf("the memory has %d", h.mem[:4])
		}
		ok(t, h.parent.MemhandleRelease(again))
		ok(t, h.Free())
		ok(t, c.Barrier())
		// A window of a released handle: an error at once, or of the first flush.
		w, err := mpi.WinFromMemhandle[int64](h.parent, h.handle, h.next)
		if err == nil {
			ok(t, w.Put([]int64{7}, h.next, 0))
			err = w.Flush(h.next)
			ok(t, w.Free())
		}
		wantText(t, err, mpi.ErrRMARange, "released")
		ok(t, c.Barrier())
	})
}

// Bytes that are not a handle, and handles of other objects, are refused; a forged handle
// accesses nothing (S5).
func TestQV32_S5_ForgedHandles(t *testing.T) {
	onHandles(t, 10, func(t testing.TB, c *mpi.Comm, h *handled) {
		from := func(handle []byte, target int) error {
			w, err := mpi.WinFromMemhandle[int64](h.parent, handle, target)
			if err != nil {
				return err
			}
			defer w.Free()
			if err := w.Put([]int64{-1, -1, -1}, target, 0); err != nil {
				return err
			}
			return w.Flush(target)
		}
		size := len(h.own)
		good := h.handle[:size]
		for n := range size {
			wantClass(t, from(good[:n], h.next), mpi.ErrArg)
		}
		wantClass(t, from(nil, h.next), mpi.ErrArg)
		wantText(t, from(good, (h.next+1)%c.Size()), mpi.ErrRank, "memory handle is of rank")
		wantClass(t, from(good, c.Size()), mpi.ErrRank)
		wantClass(t, from(good, mpi.ProcNull), mpi.ErrRank)
		wantClass(t, from(good, -7), mpi.ErrRank)
		for bit := range 8 * size {
			forged := bytes.Clone(good)
			forged[bit/8] ^= 1 << (bit % 8)
			wantClass(labelled{t, fmt.Sprint("bit ", bit)}, from(forged, h.next), mpi.ErrArg)
		}
		// A handle of another window, and on a window that accepts none.
		other, err := c.WinCreateDynamic()
		ok(t, err)
		wantText(t, second(mpi.WinFromMemhandle[int64](other, good, h.next)), mpi.ErrWin, "another window")
		wantClass(t, other.MemhandleRelease(h.own), mpi.ErrWin)
		ok(t, other.Free())
		allocated, err := mpi.WinAllocate[byte](c, 8)
		ok(t, err)
		for call, err := range map[string]error{
			"MemhandleCreate": second(mpi.MemhandleCreate(allocated.Window, h.mem, nil)), "MemhandleRelease": allocated.MemhandleRelease(h.own),
			"WinFromMemhandle": second(mpi.WinFromMemhandle[int64](allocated.Window, good, h.next)),
		} {
			wantText(labelled{t, call}, err, mpi.ErrRMAFlavor, "mpi: "+call, "dynamic windows")
		}
		ok(t, allocated.Free())
		wantClass(t, second(mpi.MemhandleCreate(h.parent, []*int{nil}, nil)), mpi.ErrType)
		wantClass(t, second(mpi.WinFromMemhandle[*int](h.parent, good, h.next)), mpi.ErrType)
		wantClass(t, second(mpi.WinFromMemhandle[int](nil, good, h.next)), mpi.ErrWin)
		ok(t, c.Barrier())
		if slices.Min(h.mem) != 0 {
			t.Errorf("the memory has %d", h.mem)
		}
		ok(t, h.Free())
		ok(t, c.Barrier())
	})
}

// Making and freeing windows and handles is local, and leaves nothing behind: one rank does it
// while the others make no call (QV-33, QV-42, E3-09). The environment variable
// HALO_TEST_HANDLES sets the number of repetitions.
func TestQV33_QV42_HandlesComeAndGo(t *testing.T) {
	cycles := 3000
	if n, err := strconv.Atoi(os.Getenv("HALO_TEST_HANDLES")); err == nil {
		cycles = n
	}
	onHandles(t, 8, func(t testing.TB, c *mpi.Comm, h *handled) {
		if c.Rank() == 0 {
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			mine, err := mpi.AllocMem[int64](c, 1)
			ok(t, err)
			var before uint64
			for i := range cycles + cycles/10 {
				if i == cycles/10 {
					before = heap()
				}
				w, err := mpi.WinFromMemhandle[int64](h.parent, h.handle, h.next)
				ok(t, err)
				ok(t, w.Put([]int64{int64(i)}, h.next, i%8))
				ok(t, w.Free())
				handle, err := mpi.MemhandleCreate(h.parent, mine, nil)
				ok(t, err)
				self, err := mpi.WinFromMemhandle[int64](h.parent, handle, 0)
				ok(t, err)
				ok(t, self.Put([]int64{int64(i)}, 0, 0))
				ok(t, self.Free())
				ok(t, h.parent.MemhandleRelease(handle))
				if mine[0] != int64(i) {
					t.Fatalf("%d in cycle %d", mine[0], i)
				}
			}
			if after := heap(); after > before+1<<20 {
				t.Errorf("%d bytes of the heap are live, %d cycles before it were %d", after, cycles, before)
			}
			ok(t, mpi.FreeMem(c, mine))
		}
		ok(t, c.Barrier())
	})
}

// Thousands of handles at the same time, released in another order, each for different memory.
func TestQV27_ManyHandles(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const n = 3000
		parent, err := c.WinCreateDynamic()
		ok(t, err)
		mem, err := mpi.AllocMem[int32](c, n)
		ok(t, err)
		mine, theirs := make([][]byte, n), make([][]byte, n)
		for i := range mine {
			mine[i], err = mpi.MemhandleCreate(parent, mem[i:i+1], nil)
			ok(t, err)
			theirs[i] = make([]byte, len(mine[i]))
			_, err = mpi.Sendrecv(c, mine[i], 1-c.Rank(), 0, theirs[i], 1-c.Rank(), 0)
			ok(t, err)
		}
		ok(t, parent.LockAll(0))
		for i := range theirs {
			w, err := mpi.WinFromMemhandle[int32](parent, theirs[i], 1-c.Rank())
			ok(t, err)
			ok(t, w.Put([]int32{int32(i + 1)}, 1-c.Rank(), 0))
			ok(t, w.Free())
		}
		ok(t, c.Barrier())
		for i := range mem {
			if mem[i] != int32(i+1) {
				t.Fatalf("memory %d has %d", i, mem[i])
			}
			ok(t, parent.MemhandleRelease(mine[i*7%n]))
		}
		ok(t, parent.UnlockAll())
		ok(t, parent.Free())
		ok(t, mpi.FreeMem(c, mem))
	})
}
