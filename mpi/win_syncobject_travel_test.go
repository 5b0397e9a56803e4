package mpi_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Handles can be sent in messages and in all collectives that do not reduce (SYN-08, SYN-09), in
// slices and Buffers, several at a time, and are equal wherever they arrive (SYN-04). A received
// handle can be passed on (SYN-12, E0-18). Each of them is used.
func TestSYN08_SYN09_SYN12_HandlesTravel(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		me, n := c.Rank(), c.Size()
		mine, err := w.AllocSyncObjects(n, nil)
		ok(t, err)
		to, from := (me+1)%n, (me+n-1)%n
		all := make([]mpi.Sync, n*n)
		ok(t, mpi.Allgather(c, mine, all))
		same := func(call string, got, want []mpi.Sync) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", call, got, want)
			}
		}
		theirs := make([]mpi.Sync, n)
		ok(t, second(mpi.Sendrecv(c, mine, to, 1, theirs, from, 1)))
		same("Sendrecv", theirs, all[from*n:][:n])
		buffered := make([]mpi.Sync, n)
		r := c.Irecv(mpi.BufOf(buffered, n, mpi.HandleSync()), from, 3)
		ok(t, c.Send(mpi.Buf(mine), to, 3))
		ok(t, second(r.Wait()))
		same("Buffers", buffered, all[from*n:][:n])
		passed := make([]mpi.Sync, n)
		ok(t, second(mpi.Sendrecv(c, buffered, to, 4, passed, from, 4)))
		same("a handle passed on", passed, all[(me+n-2)%n*n:][:n])
		root := slices.Clone(mine)
		ok(t, mpi.Bcast(c, root, 1))
		same("Bcast", root, all[n:2*n])
		gathered := make([]mpi.Sync, n*n)
		ok(t, mpi.Gather(c, mine, gathered, 2))
		if me == 2 {
			same("Gather", gathered, all)
		}
		ok(t, mpi.Scatter(c, all, theirs, 0))
		same("Scatter", theirs, mine)
		ok(t, mpi.Alltoall(c, mine, theirs))
		for r := range n {
			if theirs[r] != all[r*n+me] {
				t.Fatal("Alltoall")
			}
		}
		q := mpi.Iallgather(c, mine, gathered)
		ok(t, second(q.Wait()))
		same("Iallgather", gathered, all)

		come := startedSync(t, w.SyncObjectInit(mine[to], 1)) // the handle that Alltoall has sent to rank to
		passedOn := startedSync(t, w.SyncObjectInit(mine[from], 1))
		ok(t, w.Signal(from, 0, theirs[from]))
		two := (me + n - 2) % n
		ok(t, w.Signal(two, 0, passed[(two+n-1)%n]))
		ended(t, come)
		ended(t, passedOn)
		ok(t, w.Free())
	})
}

// Handles cannot be combined (SYN-09), made types of (SYN-10), or moved by one-sided
// communication (SYN-11): these are ErrType, and do nothing. EX-04: they have a type of their own.
func TestSYN09_SYN10_SYN11_WhereHandlesDoNotGo(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		a, b := make([]mpi.Sync, 2), make([]mpi.Sync, 2)
		mine := mpi.CreateOp(func(in, inout []mpi.Sync) { t.Error("an operation on handles is called") }, true)
		anything := mpi.CreateOpFunc(func(in, inout mpi.Buffer) { t.Error("an operation on handles is called") }, true)
		for _, o := range []mpi.Op{mpi.Sum, mpi.Band, mpi.Minloc, mine, anything} {
			for name, err := range map[string]error{
				"Reduce":             mpi.Reduce(c, a, b, o, 0),
				"Allreduce":          mpi.Allreduce(c, a, b, o),
				"Scan":               mpi.Scan(c, a, b, o),
				"Exscan":             mpi.Exscan(c, a, b, o),
				"ReduceScatterBlock": mpi.ReduceScatterBlock(c, a, b[:1], o),
				"Iallreduce":         unwaited(mpi.Iallreduce(c, a, b, o)),
				"ReduceLocal":        mpi.ReduceLocal(a, b, o),
				"Comm.Allreduce":     c.Allreduce(mpi.Buf(a), mpi.Buf(b), o),
				"Comm.Scan":          c.Scan(mpi.Buf(a), mpi.Buf(b), o),
				"Op.ReduceLocal":     o.ReduceLocal(mpi.Buf(a), mpi.Buf(b)),
			} {
				if err == nil {
					t.Errorf("%s by %v combines handles", name, o)
					continue
				}
				wantClass(t, err, mpi.ErrType)
			}
		}
		h := mpi.HandleSync()
		if d, err := mpi.TypeOf[mpi.Sync](); err != nil || d != h || h.Name() != "MPIX_HANDLE_SYNC" || must(h.Size()) != 8 {
			t.Errorf("type %v, %v", d, err)
		}
		type holds struct {
			N int
			S mpi.Sync
		}
		for name, err := range map[string]error{
			"TypeContiguous": second(mpi.TypeContiguous(2, h)),
			"TypeVector":     second(mpi.TypeVector(2, 1, 2, h)),
			"TypeIndexed":    second(mpi.TypeIndexed([]int{1}, []int{0}, h)),
			"TypeStruct":     second(mpi.TypeStruct([]int{1}, []int{0}, []mpi.Datatype{h})),
			"TypeResized":    second(mpi.TypeResized(h, 0, 64)),
			"Dup":            second(h.Dup()),
			"TypeOf struct":  second(mpi.TypeOf[holds]()),
			"TypeOf array":   second(mpi.TypeOf[[2]mpi.Sync]()),
		} {
			if err == nil {
				t.Errorf("%s makes a type of handles", name)
				continue
			}
			refused(t, err, mpi.ErrType, "is for messages only")
		}
		refused(t, second(mpi.WinAllocate[mpi.Sync](c, 1)), mpi.ErrType, "is for messages only")
		refused(t, second(mpi.WinCreate(c, a)), mpi.ErrType, "is for messages only")
		w, err := mpi.WinAllocate[byte](c, 64)
		ok(t, err)
		ok(t, w.Fence(0))
		v := mpi.Win[mpi.Sync](w)
		for name, err := range map[string]error{
			"Put":           v.Put(a, 0, 0),
			"Get":           v.Get(a, 0, 0),
			"Accumulate":    v.Accumulate(a, 0, 0, mpi.Replace),
			"GetAccumulate": v.GetAccumulate(a, b, 0, 0, mpi.NoOp),
			"Window.Put":    w.Untyped().Put(mpi.Buf(a), 0, 0, 2, h),
			"Put as bytes":  w.Untyped().Put(mpi.Buf(make([]byte, 64)), 0, 0, 2, h),
			"from handles":  w.Untyped().Put(mpi.Buf(a), 0, 0, 64, mpi.Byte()),
			"Window.Get":    w.Untyped().Get(mpi.Buf(a), 0, 0, 2, h),
		} {
			if err == nil {
				t.Errorf("%s moves handles", name)
				continue
			}
			wantClass(t, err, mpi.ErrType)
		}
		ok(t, w.Fence(0))
		ok(t, w.Free())
	})
}

// unwaited is the error that a wait for a request with invalid arguments returns.
func unwaited(q mpi.Request) error {
	_, err := q.Wait()
	return err
}

// Every call for requests starts and completes requests of objects, together with others
// (SYN-16, PER-04): an object that waits for signals of a request later in the same array is no
// deadlock.
func TestSYN16_PER04_WithEveryCall(t *testing.T) {
	ways := map[string]func(t testing.TB, rs []mpi.Request) error{
		"Waitall": func(_ testing.TB, rs []mpi.Request) error { return mpi.Waitall(rs, make([]mpi.Status, len(rs))) },
		"Testall": func(_ testing.TB, rs []mpi.Request) error {
			for {
				if done, err := mpi.Testall(rs, nil); done || err != nil {
					return err
				}
			}
		},
		"GetStatusAll": func(_ testing.TB, rs []mpi.Request) error {
			for {
				if done, err := mpi.GetStatusAll(rs, nil); done || err != nil {
					return mpi.Waitall(rs, nil)
				}
			}
		},
		"Waitany": func(t testing.TB, rs []mpi.Request) error {
			for range rs {
				if i, _, err := mpi.Waitany(rs); err != nil || i == mpi.Undefined {
					t.Errorf("index %d, %v", i, err)
				}
			}
			return nil
		},
		"Testany": func(_ testing.TB, rs []mpi.Request) error {
			for n := 0; n < len(rs); {
				i, _, done, err := mpi.Testany(rs)
				if err != nil {
					return err
				}
				if done && i != mpi.Undefined {
					n++
				}
			}
			return nil
		},
		"Waitsome": func(_ testing.TB, rs []mpi.Request) error {
			for n := 0; n < len(rs); {
				k, err := mpi.Waitsome(rs, make([]int, len(rs)), nil)
				if err != nil {
					return err
				}
				n += k
			}
			return nil
		},
		"Testsome": func(_ testing.TB, rs []mpi.Request) error {
			for n := 0; n < len(rs); {
				k, err := mpi.Testsome(rs, make([]int, len(rs)), nil)
				if err != nil {
					return err
				}
				n += k
			}
			return nil
		},
		"WaitContext": func(t testing.TB, rs []mpi.Request) error {
			if err := mpi.Waitall(rs[1:2], nil); err != nil { // otherwise the other requests would wait for it
				return err
			}
			for i := range rs {
				if _, err := rs[i].WaitContext(t.Context()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 2)
		ok(t, err)
		all := syncs(t, c, w.Window)
		me, n := c.Rank(), c.Size()
		to, from := (me+1)%n, (me+n-1)%n
		ok(t, w.LockAll(0))
		token, got := []int{me}, []int{0}
		rs := []mpi.Request{
			w.SyncObjectInit(all[me], 1),
			w.SyncOpsInit(to, mpi.ModeWinPut, all[to]),
			mpi.RecvInit(c, got, from, 1),
			mpi.SendInit(c, token, to, 1),
		}
		value := int64(0)
		for _, name := range []string{"Waitall", "Testall", "GetStatusAll", "Waitany", "Testany", "Waitsome", "Testsome", "WaitContext"} {
			for range 3 {
				value++
				ok(t, mpi.Startall(rs))
				ok(t, w.Put([]int64{value}, to, 0))
				list := append(slices.Clone(rs), w.Rget(make([]int64, 1), me, 1))
				if err := ways[name](t, list); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if w.Local()[0] != value || got[0] != from {
					t.Fatalf("%s: %d in the window, want %d; message %d, want %d", name, w.Local()[0], value, got[0], from)
				}
				ok(t, c.Barrier())
			}
		}
		ok(t, w.UnlockAll())
		for i := range rs {
			ok(t, rs[i].Free())
		}
		ok(t, w.Free())
	})
}
