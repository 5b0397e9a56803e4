package world_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

func fabrics() []string { return testrun.Fabrics("inproc", "shm", "tcp") }

// All ranks of a run see each other, over every fabric, also when there are more
// than cores.
func TestRanksSeeEachOther(t *testing.T) {
	for _, fabric := range fabrics() {
		for _, n := range []int{1, 2, 5, 9} {
			var sum atomic.Int64
			err := world.RunGoroutines(fabric, n, func(w *world.World) error {
				if w.Comm.Size() != n || w.Self.Size() != 1 {
					return fmt.Errorf("rank %d: world of %d, self of %d", w.Comm.Rank, w.Comm.Size(), w.Self.Size())
				}
				sum.Add(int64(w.Comm.Rank + 1))
				if err := w.Coll.Barrier(w.Comm); err != nil {
					return err
				}
				if got := sum.Load(); got != int64(n*(n+1)/2) {
					return fmt.Errorf("rank %d is out of the barrier before others are in: %d", w.Comm.Rank, got)
				}
				return w.Close()
			})
			if err != nil {
				t.Errorf("%d ranks over %s: %v", n, fabric, err)
			}
		}
	}
}

// The error of a run is that of the rank that failed first, not of those whom
// its death makes fail; it does not matter how the rank fails.
func TestFirstFailureIsTheRunsError(t *testing.T) {
	why := errors.New("the string broke")
	for _, fabric := range fabrics() {
		for name, fail := range map[string]func() error{
			why.Error():           func() error { return why },
			"panic: out of rosin": func() error { panic("out of rosin") },
			"its goroutine has ended": func() error {
				runtime.Goexit()
				return nil
			},
		} {
			err := world.RunGoroutines(fabric, 3, func(w *world.World) error {
				if w.Comm.Rank == 1 {
					return fail()
				}
				return w.Coll.Barrier(w.Comm)
			})
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "rank 0") {
				t.Errorf("%s: run whose rank 1 fails by %q: %v", fabric, name, err)
			}
		}
	}
}

// A run ends when a rank fails while others are in Finalize: its barrier, which fails at some of
// them, succeeds at others, and these wait for all ranks to leave it.
func TestFailureBesideFinalizeEndsTheRun(t *testing.T) {
	for turn := range 10 {
		for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@0110") {
			err := world.RunGoroutines(fabric, 4, func(w *world.World) error {
				if err := w.Coll.Barrier(w.Comm); err != nil {
					return err
				}
				if w.Comm.Rank > 0 {
					return w.Close()
				}
				for range turn * 500 { // the others are in different places of Close
					runtime.Gosched()
				}
				return errors.New("enough")
			})
			if err == nil || err.Error() != "enough" {
				t.Errorf("%s: the run: %v", fabric, err)
			}
		}
	}
}

// Runs leave nothing behind, whether they end well or not.
func TestRunsLeaveNothing(t *testing.T) {
	run := func() {
		for _, fabric := range fabrics() {
			world.RunGoroutines(fabric, 3, func(w *world.World) error {
				if err := w.Coll.Barrier(w.Comm); err != nil {
					return err
				}
				return w.Close()
			})
			world.RunGoroutines(fabric, 3, func(w *world.World) error {
				if w.Comm.Rank == 2 {
					return errors.New("enough")
				}
				return w.Coll.Barrier(w.Comm)
			})
		}
	}
	run() // the runtime opens descriptors of its own at first
	before := leak.Take()
	for range 5 {
		run()
	}
	if left := before.Left(); left != "" {
		t.Error(left)
	}
}

// F1, 11.2.2: a call that a goroutine of a failed rank is in fails when the run is over, although
// none of the ranks that it waits for has failed.
func TestF1_CallsThatAreLeftEnd(t *testing.T) {
	for turn := range 3 * 20 {
		fabric := fabrics()[turn%len(fabrics())]
		left := make(chan error, 1)
		err := world.RunGoroutines(fabric, 2, func(w *world.World) error {
			if w.Comm.Rank == 1 {
				return nil
			}
			go func() { left <- w.Coll.Barrier(w.Comm) }()
			for w.Coll.Idle(w.Comm, call.Finalize) == nil { // until it is in the Barrier
				runtime.Gosched()
			}
			for range turn * 100 { // and polls there, or sleeps
				runtime.Gosched()
			}
			return errors.New("enough")
		})
		if err == nil || err.Error() != "enough" {
			t.Errorf("%s: the run: %v", fabric, err)
		}
		err = <-left
		var e *class.Error
		if !errors.As(err, &e) || e.Class != class.ProcFailed { // the run is over, or rank 1 has given up rank 0
			t.Errorf("%s: the Barrier that was left: %v", fabric, err)
		}
	}
}

func TestUnknownFabric(t *testing.T) {
	if err := world.RunGoroutines("pigeons", 2, nil); err == nil || !strings.Contains(err.Error(), "pigeons") {
		t.Errorf("run over pigeons: %v", err)
	}
}
