package mpi_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The seed's figure 6, and the way of sending of listing 5: into a buffer for the longest
// handle. When the origin's window is freed its operations are complete, without a flush (QV-28,
// QV-34).
func TestQV28_QV34_FigureSix(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		parent, err := c.WinCreateDynamic()
		ok(t, err)
		ok(t, parent.LockAll(0))
		const a, b = 0, 2
		for round := range 20 {
			switch c.Rank() {
			case a:
				memory, err := mpi.AllocMem[int32](c, 5000)
				ok(t, err)
				handle, err := mpi.MemhandleCreate(parent, memory, nil)
				ok(t, err)
				ok(t, mpi.Send(c, handle, b, 0))
				ok(t, second(mpi.Recv(c, []byte{}, b, 0)))
				for i, v := range memory {
					if v != int32(i+round) {
						t.Fatalf("element %d is %d in round %d", i, v, round)
					}
				}
				ok(t, parent.MemhandleRelease(handle))
				ok(t, mpi.FreeMem(c, memory))
			case b:
				handle := make([]byte, mpi.MaxMemoryHandleSize)
				ok(t, second(mpi.Recv(c, handle, a, 0)))
				win, err := mpi.WinFromMemhandle[int32](parent, handle, a)
				ok(t, err)
				data := make([]int32, 5000)
				for i := range data {
					data[i] = int32(i + round)
				}
				ok(t, win.Put(data, a, 0))
				ok(t, win.Free())
				ok(t, mpi.Send(c, []byte{}, a, 0))
			}
		}
		ok(t, parent.UnlockAll())
		ok(t, parent.Free())
	})
}

// The window has the hints of the parent, unless others are given: with scope thread it has a
// separate channel, which is reused when it is freed, and with order its operations complete in
// order (QV-30). It has its own name and error handler.
func TestQV30_HintsOfHandles(t *testing.T) {
	onHandles(t, 2000, func(t testing.TB, c *mpi.Comm, h *handled) {
		info := mpi.NewInfo()
		ok(t, info.Set("mpi_win_scope", "thread"))
		ok(t, info.Set("mpi_win_order", "true"))
		for round := range 1100 { // more windows than there are channels
			w, err := mpi.WinFromMemhandle[int64](h.parent, h.handle, h.next, info)
			ok(t, err)
			if round == 0 {
				got, err := w.Info()
				ok(t, err)
				for _, key := range []string{"mpi_win_scope", "mpi_win_order"} {
					value, _ := got.Get(key)
					want, _ := info.Get(key)
					if value != want {
						t.Errorf("%s is %q, want %q", key, value, want)
					}
				}
				ok(t, w.SetName("tile"))
				if w.Name() != "tile" || h.parent.Name() != "parent" || h.Name() != "" {
					t.Errorf("the names are %q, %q and %q", w.Name(), h.parent.Name(), h.Name())
				}
				data := make([]int64, 1000)
				for i := range data {
					data[i] = int64(i)
				}
				ok(t, w.Put(data, h.next, 0))
				ok(t, w.Accumulate([]int64{1}, h.next, 1999, mpi.Sum))
				got64 := []int64{-1}
				ok(t, w.Get(got64, h.next, 999))
				ok(t, w.OrderAll())
				r := w.RflushAll()
				ok(t, second(r.Wait()))
				if got64[0] != 999 {
					t.Errorf("an ordered get behind a put has %d", got64[0])
				}
			}
			ok(t, w.Put([]int64{int64(round)}, h.next, 1000))
			ok(t, w.Free())
		}
		ok(t, c.Barrier())
		if h.mem[999] != 999 || h.mem[1999] != 1 || h.mem[1000] != 1099 {
			t.Errorf("the memory has %d, %d and %d", h.mem[999], h.mem[1999], h.mem[1000])
		}
		ok(t, h.Free())
		ok(t, c.Barrier())
	})
}

// The parent may be freed while windows of handles exist; after that these can only be freed,
// once (QV-33, E3-09).
func TestQV33_FreeBehindTheParent(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		parent, err := c.WinCreateDynamic()
		ok(t, err)
		mem := make([]int64, 4)
		mine, err := mpi.MemhandleCreate(parent, mem, nil)
		ok(t, err)
		theirs := make([]byte, len(mine))
		_, err = mpi.Sendrecv(c, mine, 1-c.Rank(), 0, theirs, 1-c.Rank(), 0)
		ok(t, err)
		w, err := mpi.WinFromMemhandle[int64](parent, theirs, 1-c.Rank())
		ok(t, err)
		ok(t, parent.LockAll(0))
		ok(t, w.Put([]int64{1, 2, 3, 4}, 1-c.Rank(), 0))
		ok(t, parent.UnlockAll())
		ok(t, parent.Free())
		if !slices.Equal(mem, []int64{1, 2, 3, 4}) {
			t.Errorf("the memory has %d", mem)
		}
		wantClass(t, w.Put([]int64{5}, 1-c.Rank(), 0), mpi.ErrWin)
		wantClass(t, w.Flush(1-c.Rank()), mpi.ErrWin)
		ok(t, w.Free())
		wantClass(t, w.Free(), mpi.ErrWin)
		ok(t, c.Barrier())
		if mem[0] != 1 {
			t.Errorf("the memory has %d", mem)
		}
	})
}

// A target whose program computes and makes no calls takes no part in operations on its memory
// handles, nor in those on allocated and dynamic windows (TestRS07_RS08_TheTargetTakesNoPart):
// all are done and flushed before its next call (QV-43, EXP-2).
func TestQV43_TargetsOfHandlesTakeNoPart(t *testing.T) {
	onHandles(t, 8, func(t testing.TB, c *mpi.Comm, h *handled) {
		ok(t, c.Barrier())
		switch {
		case c.Rank() == 0:
			flag := (*atomic.Int64)(pointerTo(&h.mem[0]))
			deadline := time.Now().Add(testrun.Long)
			for flag.Load() != 3 {
				if time.Now().After(deadline) {
					t.Fatalf("the flag is still %d", flag.Load())
				}
			}
		case h.next == 0:
			two, was, got := int64(2), int64(0), []int64{0}
			ok(t, h.Put([]int64{7}, 0, 3))
			ok(t, h.Flush(0))
			ok(t, h.Get(got, 0, 3))
			ok(t, h.Flush(0))
			ok(t, h.Accumulate([]int64{1}, 0, 0, mpi.Sum))
			ok(t, h.Flush(0))
			ok(t, h.FetchAndOp(&two, &was, 0, 0, mpi.Sum))
			ok(t, h.Flush(0))
			if got[0] != 7 || was != 1 {
				t.Errorf("got %d and %d", got[0], was)
			}
		}
		ok(t, c.Barrier())
		ok(t, h.Free())
	})
}

// Accesses by a memory handle allocate nothing, like those of allocated windows, and use the
// same number of frames where they are sent: TestQV35_HandlesSendWhatOtherWindowsSend (QV-35).
// EXP-7 in docs/experiments.md measures their time.
func TestQV35_HandlesAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	onHandles(t, 64, func(t testing.TB, c *mpi.Comm, h *handled) {
		buf, long, one, was := make([]int64, 1), make([]int64, 30), new(int64), new(int64)
		var failed error
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"Put", func() error { return h.Put(buf, h.next, 1) }},
			{"long Put", func() error { return h.Put(long, h.next, 1) }},
			{"Get", func() error { return h.Get(buf, h.next, 1) }},
			{"Accumulate", func() error { return h.Accumulate(buf, h.next, 1, mpi.Sum) }},
			{"FetchAndOp", func() error { return h.FetchAndOp(one, was, h.next, 1, mpi.Sum) }},
		} {
			allocatesNothing(t, c, step.name, 50, func() {
				for _, err := range [...]error{step.do(), h.Flush(h.next)} {
					if err != nil {
						failed = err
					}
				}
			})
		}
		ok(t, failed)
		ok(t, c.Barrier())
		ok(t, h.Free())
	})
}
