package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// accessesOf are all calls that access a target; those that return a request wait for it.
func accessesOf(s *space[int64], target, disp int) map[string]func() error {
	b, v := []int64{-1}, int64(-1)
	return map[string]func() error{
		"Put":            func() error { return s.Put(b, target, disp) },
		"Get":            func() error { return s.Get(slices.Clone(b), target, disp) },
		"Accumulate":     func() error { return s.Accumulate(b, target, disp, mpi.Sum) },
		"GetAccumulate":  func() error { return s.GetAccumulate(b, slices.Clone(b), target, disp, mpi.Replace) },
		"FetchAndOp":     func() error { return s.FetchAndOp(&v, new(int64), target, disp, mpi.Sum) },
		"CompareAndSwap": func() error { return s.CompareAndSwap(&v, new(int64), new(int64), target, disp) },
		"Rput":           func() error { r := s.Rput(b, target, disp); return second(r.Wait()) },
		"Rget":           func() error { r := s.Rget(slices.Clone(b), target, disp); return second(r.Wait()) },
		"Raccumulate":    func() error { r := s.Raccumulate(b, target, disp, mpi.Sum); return second(r.Wait()) },
		"RgetAccumulate": func() error {
			r := s.RgetAccumulate(b, slices.Clone(b), target, disp, mpi.Replace)
			return second(r.Wait())
		},
	}
}

// Invalid targets, and displacements that are negative, past the end, or so far past it that
// they overflow: the error has the class, the call, the window and the target, and nothing has
// changed (RC-18, X-RMA-19).
func TestRC18_XRMA19_RanksAndBounds(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const n = 10
		onSpaces(t, c, n, func(t testing.TB, s *space[int64]) {
			for i := range s.mem {
				s.mem[i] = int64(i)
			}
			ok(t, s.SetName("grid"))
			ok(t, c.Barrier())
			ok(t, s.LockAll(0))
			for _, rank := range []int{-1, -2, c.Size(), math.MaxInt, math.MinInt} {
				for call, access := range accessesOf(s, rank, 0) {
					wantText(labelled{t, call}, access(), mpi.ErrRank, "mpi: "+call+" on grid ")
				}
			}
			target := (c.Rank() + 1) % c.Size()
			for _, x := range []struct {
				i     int
				class mpi.Class
			}{{n, mpi.ErrRMARange}, {n + 1, mpi.ErrRMARange}, {1 << 40, mpi.ErrRMARange}, {1<<61 + 1, mpi.ErrRMARange}, {-1, mpi.ErrDisp}, {math.MinInt, mpi.ErrDisp}} {
				disp := x.i
				if s.addr != nil { // addresses are neither negative nor multiplied
					disp, x.class = s.at(target, x.i), mpi.ErrRMARange
					if x.i == math.MinInt || x.i > 1<<60 {
						disp = x.i
					}
				}
				for call, access := range accessesOf(s, target, disp) {
					l := labelled{t, fmt.Sprint(call, " at ", x.i)}
					err := access()
					if err == nil { // the target detects it
						err = s.Flush(target)
						call = "Flush"
					}
					wantText(l, err, x.class, "mpi: "+call+" on grid")
				}
			}
			// Across the end.
			across := s.at(target, n-2)
			for call, access := range map[string]func() error{
				"Put":        func() error { return s.Put(make([]int64, 3), target, across) },
				"Get":        func() error { return s.Get(make([]int64, 3), target, across) },
				"Accumulate": func() error { return s.Accumulate([]int64{1, 1, 1}, target, across, mpi.Sum) },
			} {
				err := access()
				if err == nil {
					err, call = s.Flush(target), "Flush"
				}
				wantText(labelled{t, call}, err, mpi.ErrRMARange, "mpi: "+call+" on grid ")
			}
			// Every run is checked, not only the whole: the first element of this type is before
			// the memory.
			back := typ(t)(mpi.TypeHindexed([]int{1, 1}, []int{-8, 8}, typeOf[int64]()))
			err := s.Untyped().Put(mpi.Buf([]int64{-1, -1}), target, int64(s.at(target, 0)), 1, back)
			wantClass(t, errors.Join(err, s.Flush(target)), mpi.ErrRMARange)
			ok(t, s.Untyped().Put(mpi.Buf([]int64{4, 6}), target, int64(s.at(target, 5)), 1, back)) // both elements are within the memory
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			for i, v := range s.mem {
				if v != int64(i) {
					t.Fatalf("memory is %v after calls that have failed", s.mem)
				}
			}
		})
	})
}

// Invalid operations, types on which they are not defined, types that do not match, and invalid
// Buffers (X-RMA-09).
func TestXRMA09_OperationsAndTypes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		user := mpi.CreateOp(func(in, inout []int64) {}, true)
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			peer := 1 - c.Rank()
			at := s.at(peer, 0)
			b, v := []int64{9, 9}, int64(9)
			int64s, int32s := typeOf[int64](), typeOf[int32]()
			untyped := func(b mpi.Buffer, count int, d mpi.Datatype, o mpi.Op) error {
				return s.Untyped().Accumulate(b, peer, int64(at), count, d, o)
			}
			ok(t, s.LockAll(0))
			mixed := typ(t)(mpi.TypeStruct([]int{1, 1}, []int{0, 8}, []mpi.Datatype{int64s, typeOf[float64]()}))
			uncommitted, err := mpi.TypeVector(2, 1, 2, int64s)
			ok(t, err)
			twice := typ(t)(mpi.TypeVector(2, 1, 0, int64s))
			for i, x := range []struct {
				err   error
				class mpi.Class
				text  string
			}{
				{s.Accumulate(b, peer, at, user), mpi.ErrOp, "mpi: Accumulate to "},
				{s.GetAccumulate(b, b, peer, at, user), mpi.ErrOp, "user-defined"},
				{s.FetchAndOp(&v, &v, peer, at, user), mpi.ErrOp, "user-defined"},
				{waited(s.Raccumulate(b, peer, at, user)), mpi.ErrOp, "mpi: Raccumulate to "},
				{waited(s.RgetAccumulate(b, b, peer, at, user)), mpi.ErrOp, "user-defined"},
				{untyped(mpi.Buf(b), 2, int64s, user), mpi.ErrOp, "user-defined"},
				{s.Accumulate(b, peer, at, mpi.OpNull), mpi.ErrOp, "null"},
				{s.FetchAndOp(&v, &v, peer, at, mpi.OpNull), mpi.ErrOp, "null"},
				{s.Accumulate(nil, peer, at, mpi.OpNull), mpi.ErrOp, "null"},
				{s.Accumulate(b, peer, at, mpi.NoOp), mpi.ErrOp, "NoOp can only be used by calls that fetch"},
				{waited(s.Raccumulate(b, peer, at, mpi.NoOp)), mpi.ErrOp, "NoOp"},
				{s.Accumulate(b, peer, at, mpi.Minloc), mpi.ErrOp, "Minloc is not defined on elements of MPI_INT64_T"},
				{mpi.Win[float64]{Window: s.Window}.Accumulate([]float64{1}, peer, at, mpi.Band), mpi.ErrOp, "Band"},
				{untyped(mpi.Buf(b), 2, typeOf[float64](), mpi.Sum), mpi.ErrType, "elements are MPI_INT64_T at the origin and MPI_DOUBLE at the target"},
				{untyped(mpi.Buf([]int32{1, 2, 3, 4}), 2, int64s, mpi.Sum), mpi.ErrType, "at the origin"},
				{untyped(mpi.BufOf(b, 1, mixed), 1, mixed, mpi.Sum), mpi.ErrType, "not made of elements of one predefined type"},
				{untyped(mpi.Buf(b), 1, int64s, mpi.Sum), mpi.ErrTruncate, "16 bytes do not fit into 8 bytes"},
				{untyped(mpi.Buf(b), -1, int64s, mpi.Sum), mpi.ErrCount, "-1"},
				{untyped(mpi.Buf(b), 1, uncommitted, mpi.Sum), mpi.ErrType, "not committed"},
				{untyped(mpi.Buf(b), 2, mpi.DatatypeNull, mpi.Sum), mpi.ErrType, "null"},
				{untyped(mpi.Buf(b), 1, twice, mpi.Sum), mpi.ErrType, "occur twice"},
				{untyped(mpi.Buf([]string{"a"}), 1, int64s, mpi.Sum), mpi.ErrType, "string"},
				{s.Untyped().Put(mpi.BufOf(b, 3, int64s), peer, int64(at), 3, int64s), mpi.ErrBuffer, "reach"},
				{s.Untyped().Get(mpi.BufOf(b, 1, twice), peer, int64(at), 2, int64s), mpi.ErrType, "occur twice"},
				{s.GetAccumulate(b, b[:1], peer, at, mpi.Sum), mpi.ErrTruncate, "16 bytes do not fit into 8 bytes"},
				{s.GetAccumulate(b[:1], make([]int64, 2), peer, at, mpi.Sum), mpi.ErrCount, "the result buffer has 16 bytes, but 8 are fetched"},
				{s.Untyped().FetchAndOp(mpi.Buf(b), mpi.Buf(b), peer, int64(at), mpi.Sum), mpi.ErrCount, "2 elements, want exactly 1"},
				{s.Untyped().FetchAndOp(mpi.Buf(b[:1]), mpi.BufOf(b, 1, mixed), peer, int64(at), mpi.Sum), mpi.ErrType, "not a predefined datatype"},
				{s.Untyped().FetchAndOp(mpi.BufOf([]int32{0}, 1, int32s), mpi.Buf(b[:1]), peer, int64(at), mpi.Sum), mpi.ErrType, "at the origin"},
				{s.FetchAndOp(nil, &v, peer, at, mpi.Sum), mpi.ErrBuffer, "nil"},
				{s.FetchAndOp(&v, nil, peer, at, mpi.Sum), mpi.ErrBuffer, "nil"},
				{s.CompareAndSwap(&v, nil, &v, peer, at), mpi.ErrBuffer, "nil"},
				{mpi.Win[string]{Window: s.Window}.Put([]string{"a"}, peer, at), mpi.ErrType, "string"},
				{mpi.Win[*int]{Window: s.Window}.Get(make([]*int, 1), peer, at), mpi.ErrType, "ptr"},
			} {
				if !errors.Is(x.err, x.class) {
					t.Fatalf("call %d: %v, want %v", i, x.err, x.class)
				}
				wantText(t, x.err, x.class, x.text)
			}
			// With no elements nothing is combined, whatever their type.
			none := mpi.Buf([]byte{})
			for _, d := range []mpi.Datatype{typeOf[byte](), typeOf[float64](), mixed} {
				ok(t, untyped(none, 0, d, mpi.Band))
				ok(t, s.Untyped().GetAccumulate(none, none, peer, int64(at), 0, d, mpi.Minloc))
			}
			wantClass(t, untyped(mpi.Buf(b), 0, int64s, mpi.Sum), mpi.ErrTruncate)
			ok(t, s.FlushAll())
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if !slices.Equal(s.mem, []int64{0, 0, 0, 0}) {
				t.Errorf("memory is %v after calls that have failed", s.mem)
			}
		})
	})
}

// Elements that are not aligned are accumulated on, or refused; adjacent memory does not change.
func TestXRMA11_Misaligned(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[byte](c, 64)
		ok(t, err)
		k := rounds(100)
		int64s := typeOf[int64]()
		ok(t, w.LockAll(0))
		done := int64(0)
		for range k {
			if w.Untyped().Accumulate(mpi.Buf([]int64{1}), 0, 13, 1, int64s, mpi.Sum) == nil {
				done++
			}
		}
		ok(t, w.UnlockAll())
		all, err := mpi.AllreduceOne(c, done, mpi.Sum)
		ok(t, err)
		sum := []int64{0}
		if _, err := mpi.Unpack(w.Local()[13:21], mpi.Buf(sum)); err != nil || c.Rank() == 0 && sum[0] != all {
			t.Errorf("the sum is %d, %d were added (%v)", sum[0], all, err)
		}
		for i, b := range w.Local() {
			if b != 0 && (i < 13 || i > 20) {
				t.Errorf("byte %d is %d", i, b)
			}
		}
		ok(t, w.Free())
	})
}

// Windows that cannot be made: every member gets an error, and can make another one.
func TestXRMA19_WindowsThatCannotBe(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		bad := c.Rank() == 1
		pick := func(one, others int64) int64 {
			if bad {
				return one
			}
			return others
		}
		for i, x := range []struct {
			make  func() error
			class mpi.Class
			text  string
		}{
			{func() error { return second(c.WinAllocate(pick(-1, 8), 1)) }, mpi.ErrSize, "mpi: WinAllocate on world: size of -1 bytes is negative"},
			{func() error { return second(c.WinAllocate(8, int(pick(0, 1)))) }, mpi.ErrDisp, "mpi: WinAllocate on world: displacement unit of 0 bytes, want at least 1"},
			{func() error { return second(c.WinCreate(make([]byte, 8), int(pick(-4, 1)))) }, mpi.ErrDisp, "mpi: WinCreate on world: displacement unit of -4 bytes, want at least 1"},
			{func() error { return second(c.WinAllocate(pick(1<<60, 8), 1)) }, mpi.ErrNoMem, "mpi: WinAllocate on world: "},
			{func() error { return second(mpi.WinAllocate[int64](c, int(pick(math.MaxInt, 8)))) }, mpi.ErrNoMem, "mpi: WinAllocate on world: 9223372036854775807 elements"},
			{func() error { return second(mpi.WinAllocate[int64](c, int(pick(-2, 8)))) }, mpi.ErrSize, "mpi: WinAllocate on world: number of elements is -2, which is negative"},
			{func() error {
				if bad {
					return second(mpi.WinCreate(c, []string{"a"}))
				}
				return second(mpi.WinCreate(c, []int{1}))
			}, mpi.ErrType, "string"},
			{func() error {
				if canShare(t, c) {
					return second(c.WinAllocateShared(pick(1<<60, 8), 1))
				}
				return second(c.WinAllocate(pick(1<<60, 8), 1))
			}, mpi.ErrNoMem, "mpi: WinAllocate"},
		} {
			err := x.make()
			if bad {
				wantText(labelled{t, string(rune('a' + i))}, err, x.class, x.text)
			} else {
				wantClass(labelled{t, string(rune('a' + i))}, err, x.class)
			}
		}
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		ok(t, w.Fence(0))
		ok(t, w.Put([]int64{7}, (c.Rank()+1)%c.Size(), 0))
		ok(t, w.Fence(0))
		if w.Local()[0] != 7 {
			t.Errorf("memory %v", w.Local())
		}
		ok(t, w.Free())
		wantText(t, second(mpi.WinAllocate[int64](nil, 1)), mpi.ErrComm, "mpi: WinAllocate: communicator is nil")
	})
}

// Invalid locks and groups.
func TestRW09_XRMA19_LockTypesAndGroups(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		all, err := world.Group()
		ok(t, err)
		c := world.Self()
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		for _, typ := range []mpi.LockType{0, 1, 303, -301} {
			wantText(t, w.Lock(typ, 0, 0), mpi.ErrLockType, "mpi: Lock to 0: lock type ")
		}
		for _, rank := range []int{-1, 1, math.MaxInt} {
			wantClass(t, w.Lock(mpi.LockShared, rank, 0), mpi.ErrRank)
		}
		wantText(t, w.Post(all, 0), mpi.ErrGroup, "is not a member of the window")
		wantText(t, w.Start(all, 0), mpi.ErrGroup, "is not a member of the window")
		ok(t, w.Lock(mpi.LockExclusive, 0, 0))
		wantClass(t, w.Unlock(1), mpi.ErrRank)
		wantClass(t, w.Flush(-1), mpi.ErrRank)
		wantClass(t, w.FlushLocal(1), mpi.ErrRank)
		ok(t, w.Unlock(0))
		if mpi.LockExclusive.String() != "exclusive" || mpi.LockShared.String() != "shared" || mpi.LockType(0).String() != "no lock" {
			t.Error("types of locks are called otherwise")
		}
		ok(t, w.Free())
	})
}

// Calls on a nil window, and on a freed one.
func TestXRMA19_NilAndFreedWindows(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		freed, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		ok(t, freed.SetName("spent"))
		ok(t, freed.Free())
		all, err := c.Group()
		ok(t, err)
		for text, w := range map[string]mpi.Win[int64]{"window is nil (MPI_ERR_WIN)": {}, " on spent": freed} {
			s := &space[int64]{Win: w}
			calls := map[string]error{}
			for name, access := range accessesOf(s, 0, 0) {
				calls[name] = access()
			}
			for name, err := range map[string]error{
				"Fence": w.Fence(0), "Post": w.Post(all, 0), "Start": w.Start(all, 0), "Complete": w.Complete(), "Wait": w.Wait(),
				"Test": second(w.Test()), "Lock": w.Lock(mpi.LockShared, 0, 0), "Unlock": w.Unlock(0), "LockAll": w.LockAll(0),
				"UnlockAll": w.UnlockAll(), "Flush": w.Flush(0), "FlushAll": w.FlushAll(), "FlushLocal": w.FlushLocal(0),
				"FlushLocalAll": w.FlushLocalAll(), "Sync": w.Sync(), "Free": w.Free(), "Group": second(w.Group()),
				"Info": second(w.Info()), "SetInfo": w.SetInfo(), "SetName": w.SetName("x"), "Errhandler": second(w.Errhandler()),
				"SetErrhandler": w.SetErrhandler(mpi.ErrorsReturn), "CallErrhandler": w.CallErrhandler(mpi.ErrOther),
				"Shared": second(w.Shared(0)), "SharedQuery": third(w.SharedQuery(0)),
				"Attach": mpi.Attach(w.Window, []int64{1}), "Detach": mpi.Detach(w.Window, []int64{1}),
				"SetAttr": mpi.SetAttr(w.Window, mpi.CreateKeyval[*mpi.Window, int](nil, nil), 1),
			} {
				calls[name] = err
			}
			for name, err := range calls {
				wantText(labelled{t, name}, err, mpi.ErrWin, "mpi: "+name, text)
			}
			if w.Local() != nil || w.Bytes() != 0 {
				t.Error("there is memory")
			}
		}
	})
}

// The handler of a window is called once for each error, with the window and the error that the
// call returns (ERR-12, RW-10); handlers of communicators are invalid for windows, and vice
// versa (ERR-09).
func TestERR12_RW10_Handlers(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		var windows []*mpi.Window
		var errs []*mpi.Error
		h := mpi.CreateWinErrhandler(func(on *mpi.Window, err *mpi.Error) {
			if _, err := on.Group(); err != nil { // the handler may call any function
				t.Error(err)
			}
			windows, errs = append(windows, on), append(errs, err)
		})
		if now, err := w.Errhandler(); err != nil || now != mpi.ErrorsReturn {
			t.Errorf("a new window has %v (%v)", now, err)
		}
		ok(t, w.SetErrhandler(h))
		kept := h
		ok(t, h.Free())
		if now, err := w.Errhandler(); err != nil || now != kept {
			t.Errorf("the handler is %v (%v)", now, err)
		}
		told := func(name string, err error, class mpi.Class) {
			t.Helper()
			wantClass(t, err, class)
			if len(errs) != 1 || error(errs[0]) != err || windows[0] != w.Window {
				t.Fatalf("%s: the handler was told %v, want %v once", name, errs, err)
			}
			windows, errs = nil, nil
		}
		told("Put", w.Put([]int64{1}, c.Size(), 0), mpi.ErrRank)
		told("Flush", w.Flush(0), mpi.ErrRMASync)
		told("Lock", w.Lock(9, 0, 0), mpi.ErrLockType)
		r := w.Rput([]int64{1}, -1, 0)
		if len(errs) != 1 {
			t.Fatalf("Rput: the handler was told %v", errs)
		}
		told("Rput", second(r.Wait()), mpi.ErrRank)
		told("CallErrhandler", w.CallErrhandler(mpi.ErrRMAConflict), mpi.ErrRMAConflict)
		told("keyval", mpi.SetAttr(w.Window, mpi.Keyval[*mpi.Window, int]{}, 1), mpi.ErrKeyval)
		comm := mpi.CreateCommErrhandler(func(*mpi.Comm, *mpi.Error) { t.Error("a communicator's handler was called") })
		told("SetErrhandler", w.SetErrhandler(comm), mpi.ErrErrhandler)
		told("SetErrhandler", w.SetErrhandler(mpi.Errhandler{}), mpi.ErrErrhandler)
		wantText(t, c.SetErrhandler(kept), mpi.ErrErrhandler, "made for a window, not for a communicator")
		if !mpi.CreateWinErrhandler(nil).IsNull() {
			t.Error("a handler without function is not null")
		}
		// Errors in making a window go to the communicator's handler.
		var onComm []error
		ok(t, c.SetErrhandler(mpi.CreateCommErrhandler(func(on *mpi.Comm, err *mpi.Error) { onComm = append(onComm, err) })))
		_, err = mpi.WinAllocate[int64](c, -1)
		if len(onComm) != 1 || onComm[0] != err || len(errs) != 0 {
			t.Errorf("the communicator's handler was told %v, the window's %v", onComm, errs)
		}
		ok(t, w.SetErrhandler(mpi.ErrorsReturn))
		wantClass(t, w.Flush(0), mpi.ErrRMASync)
		if len(errs) != 0 {
			t.Errorf("a handler that was replaced was told %v", errs)
		}
		ok(t, w.Free())
	})
}

// Fatal errors of a window end the rank.
func TestERR02_FatalOnAWindow(t *testing.T) {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		w, err := c.WinCreateDynamic()
		ok(t, err)
		ok(t, w.SetErrhandler(mpi.ErrorsAreFatal))
		w.Flush(0)
		t.Error("a fatal error came back")
		return nil
	})
	if !errors.Is(err, mpi.ErrRMASync) {
		t.Errorf("the run ends with %v", err)
	}
}
