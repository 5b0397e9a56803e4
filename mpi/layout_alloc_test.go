package mpi_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// layoutStep is what each of two ranks repeats with a Buffer to send from and one to receive
// into.
type layoutStep struct {
	name string
	// prepare makes the persistent requests of rs, if there are any.
	prepare func(c *mpi.Comm, send, recv mpi.Buffer, peer int, rs []mpi.Request)
	step    func(c *mpi.Comm, send, recv mpi.Buffer, peer int, rs []mpi.Request) error
}

func layoutSteps() []layoutStep {
	return []layoutStep{
		{"ping-pong", nil, func(c *mpi.Comm, send, recv mpi.Buffer, peer int, _ []mpi.Request) error {
			if c.Rank() == 0 {
				if err := c.Send(send, peer, 1); err != nil {
					return err
				}
				_, err := c.Recv(recv, peer, 1)
				return err
			}
			if _, err := c.Recv(recv, peer, 1); err != nil {
				return err
			}
			return c.Send(send, peer, 1)
		}},
		{"Isend, Irecv and Waitall", nil, func(c *mpi.Comm, send, recv mpi.Buffer, peer int, rs []mpi.Request) error {
			rs[0], rs[1] = c.Irecv(recv, peer, 2), c.Isend(send, peer, 2)
			return mpi.Waitall(rs, nil)
		}},
		{"Sendrecv", nil, func(c *mpi.Comm, send, recv mpi.Buffer, peer int, _ []mpi.Request) error {
			_, err := c.Sendrecv(send, peer, 3, recv, peer, 3)
			return err
		}},
		{"SendrecvReplace", nil, func(c *mpi.Comm, _, recv mpi.Buffer, peer int, _ []mpi.Request) error {
			_, err := c.SendrecvReplace(recv, peer, 4, peer, 4)
			return err
		}},
		{"persistent", func(c *mpi.Comm, send, recv mpi.Buffer, peer int, rs []mpi.Request) {
			rs[0], rs[1] = c.RecvInit(recv, peer, 5), c.SendInit(send, peer, 5)
		}, func(_ *mpi.Comm, _, _ mpi.Buffer, _ int, rs []mpi.Request) error {
			if err := mpi.Startall(rs); err != nil {
				return err
			}
			return mpi.Waitall(rs, nil)
		}},
	}
}

// Messages of derived types allocate nothing after the first ones, short and long, of small
// blocks and of long ones, on any fabric.
func TestLayoutsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	for _, s := range []struct {
		name                             string
		count, blocklength, stride, runs int
	}{
		{"256 B in blocks of 8 B", 32, 1, 2, 500},
		{"64 KiB in blocks of 8 B", 8 << 10, 1, 2, 100},
		{"64 KiB in blocks of 256 B", 256, 32, 64, 100},
		{"64 KiB in blocks of 8 KiB", 8, 1 << 10, 3 << 9, 100},
		{"1 MiB in blocks of 8 B", 128 << 10, 1, 2, 20},
		{"1 MiB in blocks of 8 KiB", 128, 1 << 10, 3 << 9, 20},
	} {
		t.Run(s.name, func(t *testing.T) {
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				double, err := mpi.TypeOf[float64]()
				ok(t, err)
				vector, err := mpi.TypeVector(s.count, s.blocklength, s.stride, double)
				ok(t, err)
				ok(t, vector.Commit())
				for _, l := range layoutSteps() {
					if err := messagesAllocateNothing(c, l, vector, s.count*s.stride, s.runs); err != nil {
						t.Errorf("%s: %v", l.name, err)
					}
				}
			})
		})
	}
}

// messagesAllocateNothing repeats a step until pools are full, and then counts allocations. Both
// ranks run in this process, so that both are counted.
func messagesAllocateNothing(c *mpi.Comm, l layoutStep, d mpi.Datatype, length, runs int) error {
	from, to := make([]float64, length), make([]float64, length)
	rs := make([]mpi.Request, 2)
	if l.prepare != nil {
		l.prepare(c, mpi.BufOf(from, 1, d), mpi.BufOf(to, 1, d), 1-c.Rank(), rs)
	}
	var failed error
	step := func() {
		// Buffers are made for every message, as programs do.
		if err := l.step(c, mpi.BufOf(from, 1, d), mpi.BufOf(to, 1, d), 1-c.Rank(), rs); err != nil && failed == nil {
			failed = err
		}
	}
	for range runs {
		step()
	}
	if c.Rank() == 0 {
		// AllocsPerRun makes one more call to warm up.
		if n := testing.AllocsPerRun(runs, step); n >= 1 && failed == nil {
			failed = fmt.Errorf("%v allocations per run", n)
		}
	} else {
		for range runs + 1 {
			step()
		}
	}
	for i := range rs {
		if !rs[i].IsNull() {
			if err := rs[i].Free(); err != nil {
				return err
			}
		}
	}
	return failed
}
