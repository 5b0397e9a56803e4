package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Finalize with operations that the user has started and not completed is an error that says
// what is pending.
func TestFinalizeNamesPendingWork(t *testing.T) {
	const big = 300_000
	for want, leave := range map[string]func(c *mpi.Comm) error{
		"1 receive is still posted": func(c *mpi.Comm) error {
			mpi.Irecv(c, make([]byte, 1), mpi.AnySource, 0)
			return nil
		},
		"2 receives are still posted": func(c *mpi.Comm) error {
			mpi.Irecv(c, make([]byte, 1), 1, 0)
			r := mpi.Irecv(c, make([]byte, 1), 1, 0)
			return r.Free() // no rank will send
		},
		"1 send is not complete": func(c *mpi.Comm) error {
			mpi.Issend(c, make([]byte, 1), 1, 0)
			return nil
		},
		"2 sends are not complete": func(c *mpi.Comm) error {
			mpi.Isend(c, make([]byte, big), 1, 0)
			p := mpi.SsendInit(c, make([]byte, 1), 1, 0)
			return p.Start()
		},
		"1 send is not complete ": func(c *mpi.Comm) error { // to oneself
			mpi.Issend(c, make([]byte, 1), 0, 0)
			return nil
		},
		"1 partitioned send is not complete": func(c *mpi.Comm) error {
			p := mpi.PsendInit(c, make([]byte, 2), 2, 1, 0)
			return p.Start()
		},
		"2 partitioned receives are not complete": func(c *mpi.Comm) error {
			p, q := mpi.PrecvInit(c, make([]byte, 2), 2, 1, 0), mpi.PrecvInit(c, make([]byte, 2), 1, 1, 0)
			return mpi.Startall([]mpi.Request{p, q})
		},
		"1 message of a matched probe is not received": func(c *mpi.Comm) error {
			if err := mpi.Send(c, make([]byte, 1), 0, 0); err != nil {
				return err
			}
			_, _, err := c.Mprobe(0, 0)
			return err
		},
	} {
		for _, fabric := range mpitest.Fabrics() {
			err := mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					_, err := mpi.Recv(c, []byte{}, 0, 99) // waits until the other rank has failed
					if !errors.Is(err, mpi.ErrProcFailed) {
						t.Errorf("%s: rank 1: %v", fabric, err)
					}
					return err
				}
				return leave(c)
			})
			if !errors.Is(err, mpi.ErrPending) || !strings.Contains(err.Error(), "mpi: Finalize on world: "+strings.TrimSpace(want)) {
				t.Errorf("%s: the run ends with %v, want %s", fabric, err, want)
			}
		}
	}
}

// Buffered sends, and sends whose requests were freed, complete during Finalize: a message is
// delivered if a rank receives it, and otherwise dropped.
func TestFinalizeEndsBufferedAndFreedSends(t *testing.T) {
	for _, size := range []int{0, 8, 9000, 70_000, 300_000} {
		mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
			right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
			ok(t, mpi.BufferAttach(c, nil))
			for _, dest := range []int{right, c.Rank()} {
				ok(t, mpi.Bsend(c, payload(size, 1), dest, 1)) // received late
				ok(t, mpi.Bsend(c, payload(size, 2), dest, 2)) // never
				for _, r := range []mpi.Request{mpi.Isend(c, payload(size, 3), dest, 3), mpi.Issend(c, payload(size, 4), dest, 4)} {
					ok(t, r.Free())
				}
				for range 40 { // and more than a ring holds
					r := mpi.Isend(c, payload(size/10, 5), dest, 5)
					ok(t, r.Free())
				}
			}
			if c.Rank() == 2 {
				ok(t, c.Self().Barrier())
			}
			for _, source := range []int{left, c.Rank()} {
				b := make([]byte, size)
				_, err := mpi.Recv(c, b, source, 1)
				ok(t, err)
				wantPayload(t, b, size, 1)
			}
		})
	}
}

// A run of no ranks, or over a fabric that does not exist, is an error.
func TestRunRefusesNonsense(t *testing.T) {
	never := func(*mpi.Comm) error {
		t.Error("a rank has run")
		return nil
	}
	for _, n := range []int{0, -1} {
		wantClass(t, mpi.Run(n, never), mpi.ErrArg)
	}
	if err := mpitest.RunOver("pigeons", 2, never); err == nil || !strings.Contains(err.Error(), "pigeons") {
		t.Errorf("run over pigeons: %v", err)
	}
	if err := mpi.Run(3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errDies
		}
		return nil
	}); !errors.Is(err, errDies) {
		t.Errorf("run whose rank 1 fails: %v", err)
	}
}
