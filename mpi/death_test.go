package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// errDies is the error with which a rank of these tests fails.
var errDies = errors.New("it is Monday")

// onDeath runs survive on all ranks but the last of n. The last one runs last, and then fails.
func onDeath(t *testing.T, n int, last, survive func(t testing.TB, c *mpi.Comm)) {
	t.Helper()
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fmt.Sprintf("%s-%d", fabric, n), func(t *testing.T) {
			err := mpitest.RunOver(fabric, n, func(c *mpi.Comm) error {
				if c.Rank() == n-1 {
					last(t, c)
					return errDies
				}
				survive(t, c)
				return nil
			})
			if !errors.Is(err, errDies) {
				t.Errorf("the run ends with %v, want the error of the rank that failed first", err)
			}
		})
	}
}

// Every kind of call that needs a dead rank ends with ErrProcFailed, whether it began before or
// after the death, with or without a connection.
func TestF1_CallsWithTheDeadFail(t *testing.T) {
	const big = 400_000
	nothing := func(testing.TB, *mpi.Comm) {}
	soon := func(testing.TB, *mpi.Comm) { time.Sleep(3 * time.Millisecond) }
	for name, call := range map[string]func(c *mpi.Comm, dead int) error{
		"Recv":           func(c *mpi.Comm, dead int) error { return second(mpi.Recv(c, make([]byte, 8), dead, 0)) },
		"Recv any":       func(c *mpi.Comm, _ int) error { return second(mpi.Recv(c, make([]byte, 8), mpi.AnySource, 0)) },
		"Ssend":          func(c *mpi.Comm, dead int) error { return mpi.Ssend(c, make([]byte, 8), dead, 0) },
		"Send of much":   func(c *mpi.Comm, dead int) error { return mpi.Send(c, make([]byte, big), dead, 0) },
		"Issend of much": func(c *mpi.Comm, dead int) error { return waited(mpi.Issend(c, make([]byte, big), dead, 0)) },
		"Send for ever": func(c *mpi.Comm, dead int) error {
			for {
				if err := mpi.Send(c, make([]byte, 8), dead, 0); err != nil {
					return err
				}
			}
		},
		"Bsend for ever": func(c *mpi.Comm, dead int) error {
			if err := c.AttachBuffer(make([]byte, 100_000)); err != nil {
				return err
			}
			for {
				err := mpi.Bsend(c, make([]byte, 8), dead, 0)
				if errors.Is(err, mpi.ErrBuffer) { // as long as the death is not known
					if err := c.FlushBuffer(); err != nil {
						return err
					}
					continue
				}
				if err != nil {
					return err
				}
			}
		},
		"Probe":     func(c *mpi.Comm, dead int) error { return second(c.Probe(dead, 0)) },
		"Probe any": func(c *mpi.Comm, dead int) error { return second(c.Probe(mpi.AnySource, 0)) },
		"Iprobe for ever": func(c *mpi.Comm, dead int) error {
			for {
				if _, _, err := c.Iprobe(dead, 0); err != nil {
					return err
				}
			}
		},
		"Mprobe":    func(c *mpi.Comm, dead int) error { return third(c.Mprobe(dead, 0)) },
		"RecvSlice": func(c *mpi.Comm, dead int) error { return third(mpi.RecvSlice[byte](c, dead, 0)) },
		"Sendrecv": func(c *mpi.Comm, dead int) error {
			return second(mpi.Sendrecv(c, make([]byte, big), dead, 0, make([]byte, big), dead, 0))
		},
		"SendrecvReplace": func(c *mpi.Comm, dead int) error {
			return second(mpi.SendrecvReplace(c, make([]byte, big), dead, 0, dead, 0))
		},
		"Test for ever": func(c *mpi.Comm, dead int) error {
			r := mpi.Irecv(c, make([]byte, 8), dead, 0)
			for {
				if _, done, err := r.Test(); done {
					return err
				}
			}
		},
		"Waitany": func(c *mpi.Comm, dead int) error {
			_, _, err := mpi.Waitany([]mpi.Request{{}, mpi.Irecv(c, make([]byte, 8), dead, 0)})
			return err
		},
		"WaitContext": func(c *mpi.Comm, dead int) error {
			r := mpi.Irecv(c, make([]byte, 8), dead, 0)
			return second(r.WaitContext(neverEnds()))
		},
		"Waitall": func(c *mpi.Comm, dead int) error {
			rs := []mpi.Request{mpi.Irecv(c, make([]byte, 8), dead, 0), mpi.Issend(c, make([]byte, big), dead, 0)}
			sts := make([]mpi.Status, 2)
			err := mpi.Waitall(rs, sts)
			if !errors.Is(err, mpi.ErrInStatus) || !errors.Is(sts[0].Err, mpi.ErrProcFailed) || !errors.Is(sts[1].Err, mpi.ErrProcFailed) {
				return fmt.Errorf("Waitall: %w", err)
			}
			return sts[0].Err
		},
		"persistent": func(c *mpi.Comm, dead int) error {
			r := mpi.RecvInit(c, make([]byte, 8), dead, 0)
			var err error
			for range 2 { // at the second start the rank is already dead
				if err := r.Start(); err != nil {
					return err
				}
				_, err = r.Wait()
			}
			if e := r.Free(); e != nil {
				return e
			}
			return err
		},
		"Barrier": func(c *mpi.Comm, dead int) error { return c.Barrier() },
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for _, last := range []func(testing.TB, *mpi.Comm){nothing, soon} {
				onDeath(t, 3, last, func(t testing.TB, c *mpi.Comm) {
					err := call(c, 2)
					wantClass(t, err, mpi.ErrProcFailed)
					if !errors.Is(err, errDies) || !strings.Contains(err.Error(), "rank 2 has failed") {
						t.Errorf("%s: the error does not say who died of what: %v", name, err)
					}
				})
			}
		})
	}
}

// Messages that the dead rank had sent are received; those that it had only announced fail.
func TestF1_MessagesOfTheDead(t *testing.T) {
	const small, big = 100, 400_000
	onDeath(t, 2, func(t testing.TB, c *mpi.Comm) {
		r := mpi.Isend(c, payload(big, 1), 0, 1)
		ok(t, r.Free())
		ok(t, mpi.Send(c, payload(small, 2), 0, 2))
		ok(t, mpi.Send(c, payload(small, 3), 0, 3))
		_, err := mpi.Recv(c, []byte{}, 0, 0)
		ok(t, err)
	}, func(t testing.TB, c *mpi.Comm) {
		announced, st, err := c.Mprobe(1, 1)
		ok(t, err)
		wantStatus(t, st, 1, 1, big)
		held, _, err := c.Mprobe(1, 3)
		ok(t, err)
		ok(t, mpi.Send(c, []byte{}, 1, 0))
		wantClass(t, second(mpi.Recv(c, []byte{}, 1, 9)), mpi.ErrProcFailed) // now it is dead
		b := make([]byte, big)
		_, err = mpi.Recv(c, b, 1, 2)
		ok(t, err)
		wantPayload(t, b[:small], small, 2)
		_, err = mpi.Mrecv(&held, b)
		ok(t, err)
		wantPayload(t, b[:small], small, 3)
		_, err = mpi.Mrecv(&announced, b)
		wantClass(t, err, mpi.ErrProcFailed)
	})
}

// Ranks that do not need the dead rank continue.
func TestF1_OthersGoOn(t *testing.T) {
	var living sync.Map
	onDeath(t, 4, func(testing.TB, *mpi.Comm) {}, func(t testing.TB, c *mpi.Comm) {
		wantClass(t, second(mpi.Recv(c, []byte{}, 3, 9)), mpi.ErrProcFailed)
		right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
		for i := range 100 {
			for _, size := range []int{8, 9000, 70_000} {
				b := make([]byte, size)
				_, err := mpi.Sendrecv(c, payload(size, uint64(i)), right, i, b, left, i)
				ok(t, err)
				wantPayload(t, b, size, uint64(i))
			}
		}
		living.Store(c.Rank(), true)
		// Wildcards work on a communicator without the dead rank.
		self := c.Self()
		r := mpi.Irecv(self, make([]byte, 1), mpi.AnySource, mpi.AnyTag)
		ok(t, mpi.Send(self, []byte{1}, 0, 0))
		_, err := r.Wait()
		ok(t, err)
	})
}

// A rank that panics is dead to the others, and the panic is reported.
func TestF1_PanicOfARank(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		err := mpitest.RunOver(fabric, 2, func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				panic("no more tea")
			}
			_, err := mpi.Recv(c, []byte{}, 1, 0)
			wantClass(t, err, mpi.ErrProcFailed)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1: panic: no more tea") {
			t.Errorf("%s: run with a panic ends with %v", fabric, err)
		}
	}
}

// A rank dies during heavy traffic: all pending calls end, with or without an error.
func TestF1_DeathAmidTraffic(t *testing.T) {
	for round := range 6 {
		onDeath(t, 4, func(t testing.TB, c *mpi.Comm) {
			for i := range 40 * round { // some traffic, then no more
				b := make([]byte, 80_000)
				if _, err := mpi.Sendrecv(c, b[:(i*997)%80_000], i%3, 0, b, i%3, 0); err != nil {
					t.Errorf("rank 3 alive: %v", err)
				}
			}
		}, func(t testing.TB, c *mpi.Comm) {
			for i := 0; ; i++ {
				b := make([]byte, 80_000)
				if _, err := mpi.Sendrecv(c, b[:(i*997)%80_000], 3, 0, b, 3, 0); err != nil {
					wantClass(t, err, mpi.ErrProcFailed)
					return
				}
			}
		})
	}
}
