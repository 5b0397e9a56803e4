package mpi_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// COL-06: in checking mode communication by a user-defined operation is ErrOther, in every call,
// on slices and on Buffers, and in ReduceLocal, too. Local calls are allowed, and the program
// continues normally.
func TestCOL06_OperationsDoNotCommunicate(t *testing.T) {
	checked(t, 2, func(t testing.TB, c *mpi.Comm) {
		buf := []int{1}
		calls := map[string]func() error{
			"Send":      func() error { return mpi.Send(c, buf, c.Rank(), 1) },
			"Recv":      func() error { _, err := mpi.Recv(c, buf, c.Rank(), 1); return err },
			"Irecv":     func() error { return waited(mpi.Irecv(c, buf, c.Rank(), 1)) },
			"Ssend":     func() error { return c.Ssend(mpi.Buf(buf), 1-c.Rank(), 1) },
			"Iprobe":    func() error { _, _, err := c.Iprobe(c.Rank(), 1); return err },
			"Barrier":   func() error { return c.Barrier() },
			"Allreduce": func() error { return mpi.Allreduce(c, buf, buf, mpi.Sum) },
			"Ibcast":    func() error { return waited(c.Ibcast(mpi.Buf(buf), 0)) },
			"Dup":       func() error { _, err := c.Dup(); return err },
		}
		var mu sync.Mutex
		seen := map[string]error{}
		called := 0
		try := func() {
			mu.Lock()
			defer mu.Unlock()
			called++
			for name, call := range calls {
				seen[name] = call()
			}
			if err := c.SetName("named by an operation"); err != nil {
				t.Errorf("a local call: %v", err)
			}
			if err := mpi.ReduceLocal([]int{1}, []int{2}, mpi.Sum); err != nil {
				t.Errorf("ReduceLocal: %v", err)
			}
		}
		slices := mpi.CreateOp(func(in, inout []int) { try() }, false)
		buffers := mpi.CreateOpFunc(func(in, inout mpi.Buffer) { try() }, false)
		in, inout := make([]int, 2), make([]int, 2)
		for what, reduce := range []func() error{
			func() error { return mpi.Scan(c, in, inout, slices) },
			func() error { return c.Allreduce(mpi.Buf(in), mpi.Buf(inout), buffers) },
			func() error { return mpi.ReduceLocal(in, inout, slices) },
			func() error { return buffers.ReduceLocal(mpi.Buf(in), mpi.Buf(inout)) },
		} {
			mu.Lock()
			clear(seen)
			called = 0
			mu.Unlock()
			if err := reduce(); err != nil {
				t.Errorf("%d: %v", what, err)
			}
			mu.Lock()
			if called == 0 && (what > 0 || c.Rank() > 0) {
				t.Errorf("%d: the operation was not called on rank %d", what, c.Rank())
			}
			for name, err := range seen {
				if !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), "mpi: "+name+" on") || !strings.Contains(err.Error(), "called by an operation of a reduction") {
					t.Errorf("%d: %s in an operation: %v", what, name, err)
				}
			}
			mu.Unlock()
		}
		if err := mpi.Send(c, buf, mpi.ProcNull, 0); err != nil {
			t.Errorf("outside: %v", err)
		}
	})
}

// abortingOperation ends its job from within an operation.
func abortingOperation() error {
	mpi.Main(func(world *mpi.Comm) error {
		abort := mpi.CreateOp(func(in, inout []int) { world.Abort(9) }, true)
		return mpi.ReduceLocal([]int{1}, []int{2}, abort)
	})
	return nil
}

// COL-06: an operation may abort the job, in checking mode as well.
func TestCOL06_OperationsMayAbort(t *testing.T) {
	for _, check := range []string{"0", "1"} {
		t.Setenv("HALO_CHECK", check)
		if out, errs, status := program(t, "abortingop"); status != 9 {
			t.Errorf("HALO_CHECK=%s: status %d\n%s%s", check, status, out, errs)
		}
	}
}
