package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// told records the calls of an error handler.
type told struct {
	mu    sync.Mutex
	comms []*mpi.Comm
	errs  []*mpi.Error
}

// The handler calls MPI itself: a lock that is held while an error is raised would cause a
// deadlock.
func (w *told) handler() mpi.Errhandler {
	return mpi.CreateCommErrhandler(func(c *mpi.Comm, err *mpi.Error) {
		if _, _, err := c.Self().Iprobe(mpi.AnySource, mpi.AnyTag); err != nil {
			panic(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.comms, w.errs = append(w.comms, c), append(w.errs, err)
	})
}

// take returns what was recorded since the last call.
func (w *told) take() ([]*mpi.Comm, []*mpi.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	comms, errs := w.comms, w.errs
	w.comms, w.errs = nil, nil
	return comms, errs
}

// truncate starts a receive on c that will be truncated.
func truncate(t testing.TB, c *mpi.Comm) mpi.Request {
	r := mpi.Irecv(c, make([]byte, 1), 0, 1)
	ok(t, mpi.Send(c, make([]byte, 2), 0, 1))
	return r
}

// The handler is called once for each call that fails, with the communicator and the error that
// the call returns. Errors of calls without a communicator go to self.
func TestERR03_HandlerIsCalledOnce(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		own, selfs := &told{}, &told{}
		ok(t, c.SetErrhandler(own.handler()))
		ok(t, c.Self().SetErrhandler(selfs.handler()))
		freed, err := c.Dup()
		ok(t, err)
		ok(t, freed.Free())
		b := []byte{1}
		two := func() []mpi.Request { return []mpi.Request{{}, truncate(t, c)} }
		some := func(f func([]mpi.Request, []int, []mpi.Status) (int, error)) error {
			return second(f(two(), make([]int, 2), nil))
		}
		// With ranks that are goroutines, a call without any object does not tell which rank
		// makes it.
		nobody := map[string]bool{"statuses": true, "indices": true, "null request": true}
		for name, call := range map[string]func() error{
			"rank":         func() error { return mpi.Send(c, b, 1, 0) },
			"tag":          func() error { return second(mpi.Recv(c, b, 0, -5)) },
			"nonblocking":  func() error { return waited(mpi.Isend(c, b, 1, 0)) },
			"truncated":    func() error { return second(mpi.Sendrecv(c, []byte{1, 2}, 0, 0, b, 0, 0)) },
			"Wait":         func() error { return waited(truncate(t, c)) },
			"root":         func() error { return mpi.Bcast(c, b, 1) },
			"no op":        func() error { return mpi.Allreduce(c, []float64{1}, []float64{1}, mpi.Band) },
			"color":        func() error { return second(c.Split(-7, 0)) },
			"overlap":      func() error { d := make([]byte, 3); return mpi.Allreduce(c, d[:2], d[1:], mpi.Sum) },
			"no buffer":    func() error { return mpi.Bsend(c, b, 0, 0) },
			"probe":        func() error { return second(c.Probe(4, 0)) },
			"persistent":   func() error { return waited(mpi.RecvInit(c, b, 0, -9)) },
			"name":         func() error { return c.SetName(strings.Repeat("x", 300)) },
			"freed":        func() error { return mpi.Send(freed, b, 0, 0) },
			"statuses":     func() error { return mpi.Waitall(make([]mpi.Request, 2), make([]mpi.Status, 1)) },
			"indices":      func() error { return second(mpi.Waitsome(make([]mpi.Request, 1), nil, nil)) },
			"null request": func() error { var q mpi.Request; return q.Cancel() },
			"Test": func() error {
				r := truncate(t, c)
				for {
					if _, done, err := r.Test(); done {
						return err
					}
				}
			},
			"start": func() error { // twice
				r := mpi.RecvInit(c, b, 0, 9)
				ok(t, r.Start())
				err := r.Start()
				ok(t, r.Cancel())
				_, e := r.Wait()
				ok(t, e)
				ok(t, r.Free())
				return err
			},
			"cancel": func() error { // cancelling an inactive request
				r := mpi.RecvInit(c, b, 0, 9)
				err := r.Cancel()
				ok(t, r.Free())
				return err
			},
			"stale": func() error {
				r := mpi.Isend(c, b, mpi.ProcNull, 0)
				s := r
				ok(t, second(r.Wait()))
				return second(s.Wait())
			},
			"message": func() error {
				ok(t, mpi.Send(c, b, 0, 3))
				m, _, err := c.Mprobe(0, 3)
				ok(t, err)
				_, err = mpi.Mrecv(&m, b)
				ok(t, err)
				return second(mpi.Mrecv(&m, b))
			},
			"Waitall":    func() error { return mpi.Waitall(two(), nil) },
			"Testall":    func() error { return second(mpi.Testall(two(), nil)) },
			"Waitany":    func() error { return third(mpi.Waitany(two())) },
			"Testany":    func() error { return fourth(mpi.Testany(two())) },
			"Waitsome":   func() error { return some(mpi.Waitsome) },
			"Testsome":   func() error { return some(mpi.Testsome) },
			"whole type": func() error { ok(t, mpi.Send(c, b, 0, 2)); return third(mpi.RecvSlice[int32](c, 0, 2)) },
		} {
			err := call()
			if err == nil {
				t.Fatalf("%s: no error", name)
			}
			on, w, other := c, own, selfs
			if nobody[name] {
				if _, errs := selfs.take(); len(errs) != 0 {
					t.Fatalf("%s: somebody's handler was told %v", name, errs)
				}
				continue
			}
			if name == "freed" {
				on, w, other = c.Self(), selfs, own
			}
			comms, errs := w.take()
			if _, no := other.take(); len(errs) != 1 || len(no) != 0 || comms[0] != on {
				t.Fatalf("%s: the handler was told %v, another one %v; want %v once", name, errs, no, err)
			}
			if errs[0] != err && !errors.Is(err, mpi.ErrInStatus) {
				t.Fatalf("%s: the handler was told %v, the call returns %v", name, errs[0], err)
			}
		}
		ok(t, c.Free())
	})
}

// If several operations have failed, the handler gets the error of the first, and the call
// returns ErrInStatus. GetStatus calls do not complete requests, and call the handler each time.
// ERR-16: only calls with statuses of several operations return that class.
func TestERR04_InStatus(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		w := &told{}
		ok(t, c.SetErrhandler(w.handler()))
		rs := []mpi.Request{mpi.Isend(c, []byte{1}, mpi.ProcNull, 0), truncate(t, c), truncate(t, c)}
		sts := make([]mpi.Status, 3)
		idx := make([]int, 3)
		for name, look := range map[string]func() error{
			"GetStatus":     func() error { return third(rs[1].GetStatus()) },
			"GetStatusAny":  func() error { return fourth(mpi.GetStatusAny(rs[1:])) },
			"GetStatusAll":  func() error { return second(mpi.GetStatusAll(rs, sts)) },
			"GetStatusSome": func() error { return second(mpi.GetStatusSome(rs, idx, sts)) },
		} {
			err := look()
			if strings.HasSuffix(name, "All") || strings.HasSuffix(name, "Some") {
				wantClass(t, err, mpi.ErrInStatus)
			} else {
				wantClass(t, err, mpi.ErrTruncate)
			}
			if _, errs := w.take(); len(errs) != 1 || !errors.Is(errs[0], mpi.ErrTruncate) {
				t.Fatalf("%s: the handler was told %v", name, errs)
			}
		}
		wantClass(t, mpi.Waitall(rs, sts), mpi.ErrInStatus)
		_, errs := w.take()
		if len(errs) != 1 || errs[0] != sts[1].Err || !errors.Is(sts[2].Err, mpi.ErrTruncate) || sts[0].Err != nil {
			t.Fatalf("the handler was told %v; statuses %v", errs, sts)
		}
		// For an invalid argument the handler was called when the operation was started.
		rs[0] = mpi.Isend(c, []byte{1}, 7, 0)
		if _, errs := w.take(); len(errs) != 1 || !errors.Is(errs[0], mpi.ErrRank) {
			t.Fatalf("the handler was told %v", errs)
		}
		wantClass(t, mpi.Waitall(rs[:1], sts), mpi.ErrInStatus)
		if _, errs := w.take(); len(errs) != 0 || !errors.Is(sts[0].Err, mpi.ErrRank) {
			t.Fatalf("the handler was told once more: %v; status %v", errs, sts[0])
		}
		ok(t, c.Free())
	})
}

// A communicator inherits the handler of the one it was made from, and from then on they are
// independent (ERR-10). A library saves, replaces and restores a handler (ERR-11). A handler
// exists as long as a communicator has it (ERR-08). The caller of Errhandler frees the handle
// that it got (ERR-07). ERR-06: a communicator takes predefined handlers and those made for
// communicators.
func TestERR10_HandlersAreInherited(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		w := &told{}
		h := w.handler()
		ok(t, c.SetErrhandler(h))
		ok(t, h.Free())
		wantClass(t, h.Free(), mpi.ErrErrhandler)
		wantClass(t, c.SetErrhandler(h), mpi.ErrErrhandler) // ERR-09
		if _, errs := w.take(); len(errs) != 1 || !h.IsNull() {
			t.Fatalf("the handler was told %v; null %v", errs, h.IsNull())
		}
		dup, err := c.Dup()
		ok(t, err)
		part, err := c.Split(c.Rank(), 0)
		ok(t, err)
		saved, err := dup.Errhandler() // ERR-11
		ok(t, err)
		ok(t, dup.SetErrhandler(mpi.ErrorsReturn))
		if now, err := dup.Errhandler(); err != nil || now != mpi.ErrorsReturn {
			t.Fatalf("the handler is %v (%v)", now, err)
		}
		wantClass(t, mpi.Send(dup, []byte{1}, 5, 0), mpi.ErrRank)
		if _, errs := w.take(); len(errs) != 0 {
			t.Fatalf("a handler that was replaced was told %v", errs)
		}
		ok(t, dup.SetErrhandler(saved))
		ok(t, saved.Free())
		for _, d := range []*mpi.Comm{c, dup, part} {
			wantClass(t, mpi.Send(d, []byte{1}, 5, 0), mpi.ErrRank)
			comms, errs := w.take()
			if len(errs) != 1 || comms[0] != d {
				t.Fatalf("the handler was told %v on %v", errs, comms)
			}
			ok(t, d.Free())
		}
		if now, err := world.Errhandler(); err != nil || now != mpi.ErrorsReturn {
			t.Fatalf("the world's handler is %v (%v)", now, err)
		}
	})
}

// A library calls the handler with its own errors.
func TestERR03_CallErrhandler(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		c, err := world.Dup()
		ok(t, err)
		w := &told{}
		ok(t, c.SetErrhandler(w.handler()))
		class := mpi.AddErrorClass()
		code, err := mpi.AddErrorCode(class)
		ok(t, err)
		ok(t, mpi.AddErrorString(code, "solver: diverged"))
		mine := errors.New("out of tea")
		for _, k := range []struct {
			err  error
			is   []error
			text string
		}{
			{mpi.ErrTag, []error{mpi.ErrTag}, "MPI_ERR_TAG: invalid tag (MPI_ERR_TAG)"},
			{code, []error{code, class}, "solver: diverged (solver: diverged)"},
			{fmt.Errorf("late: %w", mpi.ErrRoot), []error{mpi.ErrRoot}, "late: MPI_ERR_ROOT (MPI_ERR_ROOT)"},
			{mine, []error{mine, mpi.ErrOther}, "out of tea (MPI_ERR_OTHER)"},
		} {
			err := c.CallErrhandler(k.err)
			if _, errs := w.take(); len(errs) != 1 || error(errs[0]) != err {
				t.Fatalf("the handler was told %v, want %v", errs, err)
			}
			for _, is := range k.is {
				if !errors.Is(err, is) {
					t.Errorf("%v is not %v", err, is)
				}
			}
			if want := "mpi: CallErrhandler: " + k.text; err.Error() != want {
				t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
			}
		}
		ok(t, c.CallErrhandler(nil))
		ok(t, c.CallErrhandler(mpi.Success))
		if _, errs := w.take(); len(errs) != 0 {
			t.Fatalf("the handler was told %v", errs)
		}
		ok(t, c.Free())
		ok(t, mpi.AddErrorString(code, ""))
		ok(t, mpi.RemoveErrorCode(code))
		ok(t, mpi.RemoveErrorClass(class))
	})
}

// Fatal errors end the rank; to the others it is dead.
func TestERR02_FatalAmongGoroutines(t *testing.T) {
	for _, h := range []mpi.Errhandler{mpi.ErrorsAreFatal, mpi.ErrorsAbort} {
		for _, fabric := range mpitest.Fabrics() {
			err := mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					ok(t, c.SetErrhandler(h))
					mpi.Send(c, []byte{1}, 9, 0)
					t.Error("a fatal error came back")
					return nil
				}
				_, err := mpi.Recv(c, []byte{}, 1, 0)
				wantClass(t, err, mpi.ErrProcFailed)
				return err
			})
			if !errors.Is(err, mpi.ErrRank) || !strings.Contains(err.Error(), "rank 9 in a communicator of 2 (MPI_ERR_RANK)") {
				t.Errorf("%s, %v: the run ends with %v", fabric, h, err)
			}
		}
	}
}

// A process exits with the class of a fatal error, after printing the error.
func TestERR02_FatalInAProcess(t *testing.T) {
	for _, k := range []struct{ handler, program, text string }{
		{"mpi_errors_are_fatal", "fatal", "rank 0: mpi: Send on world to 9 tag 0: rank 9 in a communicator of 1 (MPI_ERR_RANK)\n"},
		{"mpi_errors_abort", "fatal", "rank 0: mpi: Send on world to 9 tag 0: rank 9 in a communicator of 1 (MPI_ERR_RANK)\n"},
		{"mpi_errors_are_fatal", "fatalnone", "rank 0: mpi: AddErrorString: error class or code 4 was not added, or has been removed (MPI_ERR_ARG)\n"},
		{"mpi_errors_are_fatal", "fatalearly", "mpi: Finalize: called before Init (MPI_ERR_OTHER)\n"},
	} {
		t.Setenv("HALO_INITIAL_ERRHANDLER", k.handler)
		out, errs, status := program(t, k.program)
		want := map[string]int{"fatal": int(mpi.ErrRank), "fatalnone": int(mpi.ErrArg), "fatalearly": int(mpi.ErrOther)}[k.program]
		if out != "" || errs != k.text || status != want {
			t.Errorf("%s with %s: status %d, printed %q and\n\t%q\nwant %d and\n\t%q", k.program, k.handler, status, out, errs, want, k.text)
		}
	}
	t.Setenv("HALO_INITIAL_ERRHANDLER", "fatal")
	out, errs, status := program(t, "fatal")
	if want := "mpi: Init: HALO_INITIAL_ERRHANDLER=fatal, want mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return (MPI_ERR_ARG)\n"; out != "" || errs != want || status != 1 {
		t.Errorf("with a wrong handler: status %d, printed %q and\n\t%q\nwant\n\t%q", status, out, errs, want)
	}
	t.Setenv("HALO_INITIAL_ERRHANDLER", "mpi_errors_return")
	if out, _, status := program(t, "fatal"); out != "came back\n" || status != 0 {
		t.Errorf("with mpi_errors_return: status %d, printed %q", status, out)
	}
}

// Callbacks of Finalize, and handlers of errors of Init and Finalize, may call Initialized and
// Finalized.
func TestATT05_StateDuringFinalize(t *testing.T) {
	unchecked(t) // with checks the refused Finalize also prints which request is pending
	out, errs, status := program(t, "finalizing")
	if want := "Init: initialised true, finalized false\nFinalize: initialised true, finalized false\ncallback: initialised true, finalized false\n"; out != want || errs != "" || status != 0 {
		t.Errorf("status %d, printed %q and %q, want %q", status, out, errs, want)
	}
}

// finalizing makes Init and Finalize fail, then ends.
func finalizing() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	state := func(what string) {
		fmt.Printf("%s: initialised %v, finalized %v\n", what, mpi.Initialized(), mpi.Finalized())
	}
	handler := mpi.CreateCommErrhandler(func(_ *mpi.Comm, err *mpi.Error) { state(err.Call) })
	key := mpi.CreateKeyval(nil, func(*mpi.Comm, int) error {
		state("callback")
		return nil
	})
	if err := errors.Join(world.SetErrhandler(handler), world.Self().SetErrhandler(handler), mpi.SetAttr(world.Self(), key, 1)); err != nil {
		return err
	}
	if _, err := mpi.Init(); err == nil {
		return errors.New("Init twice")
	}
	r := mpi.Irecv(world, []byte{0}, 0, 0)
	if err := mpi.Finalize(); !errors.Is(err, mpi.ErrPending) {
		return fmt.Errorf("Finalize with a receive: %w", err)
	}
	if err := mpi.Send(world, []byte{0}, 0, 0); err != nil {
		return err
	}
	if _, err := r.Wait(); err != nil {
		return err
	}
	return mpi.Finalize()
}

// fatal makes a wrong call on the world.
func fatal() error {
	mpi.Main(func(world *mpi.Comm) error {
		mpi.Send(world, []byte{1}, 9, 0)
		fmt.Println("came back")
		return nil
	})
	return nil
}

// fatalNone makes a wrong call without a communicator.
func fatalNone() error {
	if _, err := mpi.Init(); err != nil {
		return err
	}
	return mpi.AddErrorString(mpi.ErrTag, "mine")
}

// X-ERR-01: errors that belong to no object, such as those on a freed communicator, go to the
// handler of self. As long as self was given none, they go to that of the world if it was given
// one, as programs from before MPI-4 expect.
func TestXERR01_HandlerOfErrorsOfNoObject(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		worlds, selfs := &told{}, &told{}
		raise := func(w, other *told, on *mpi.Comm) {
			t.Helper()
			c, err := world.Dup()
			ok(t, err)
			ok(t, c.Free())
			err = c.Barrier()
			comms, errs := w.take()
			if _, no := other.take(); len(no) != 0 || len(errs) != 1 || errs[0] != err || comms[0] != on {
				t.Fatalf("%v: told %v on %v, and the other handler %v", err, errs, comms, no)
			}
		}
		ok(t, world.SetErrhandler(worlds.handler()))
		raise(worlds, selfs, world)
		ok(t, world.Self().SetErrhandler(selfs.handler()))
		raise(selfs, worlds, world.Self())
		ok(t, world.SetErrhandler(worlds.handler()))
		raise(selfs, worlds, world.Self())
	})
}
