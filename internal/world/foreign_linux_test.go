package world_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// met runs fn in two jobs whose groups have met: job 0 has accepted.
func met(fabric string, sizes []int, fn func(ctx context.Context, job int, w *world.World, c *comm.Comm) error) error {
	names := make(chan string, 1)
	return world.RunJobs(fabric, sizes, func(ctx context.Context, job int, w *world.World) error {
		c, err := meeting(ctx, job, w, names)
		if err != nil {
			return err
		}
		return fn(ctx, job, w, c)
	})
}

// meeting has two jobs meet: job 0 accepts.
func meeting(ctx context.Context, job int, w *world.World, names chan string) (*comm.Comm, error) {
	if job == 0 {
		return accept(ctx, w, names)
	}
	return connect(ctx, w, names)
}

// errEnded is the error of a job that is to fail.
var errEnded = errors.New("it has ended")

// guard panics if a test hangs.
func guard(what string) (stop func()) {
	return testrun.Watch(what + " does not end")
}

// Messages of all lengths between processes of two jobs on one node travel through memory, where the processes of a
// job share memory, in order and whole (X-DYN-01).
func TestMessagesOfTwoJobsThroughMemory(t *testing.T) {
	lengths := []int{0, 1, 8, 24, 25, 1000, 8 << 10, 8<<10 + 1, 17 << 10, 64 << 10, 300 << 10}
	for _, fabric := range fabrics() {
		stop := guard(fabric)
		err := met(fabric, []int{2, 3}, func(ctx context.Context, job int, w *world.World, c *comm.Comm) error {
			var requests []*p2p.Request
			var in [][]byte
			w.Proc.Lock()
			for round := range 20 {
				for r := range c.Size() {
					for i, n := range lengths {
						if i > 6 && round > 1 {
							break
						}
						out := make([]byte, n)
						for k := range out {
							out[k] = byte(round + i + k + c.Rank + 7*r)
						}
						in = append(in, make([]byte, n))
						v := p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: r, Tag: 1}
						requests = append(requests, w.P2P.Isend(&v, mem.Of(out)), w.P2P.Irecv(&v, mem.Of(in[len(in)-1])))
					}
				}
			}
			var err error
			for _, r := range requests {
				w.P2P.Wait(r)
				err = errors.Join(err, r.Status.Err)
				w.P2P.Free(r)
			}
			for r := range c.Size() {
				if got := w.Proc.ThroughRings(int(c.Members[r])); got != (fabric != "tcp" && !testrun.Race) {
					err = errors.Join(err, fmt.Errorf("frames to rank %d travel through memory: %v", r, got))
				}
			}
			w.Proc.Unlock()
			at := 0
			for round := range 20 {
				for r := range c.Size() {
					for i := range lengths {
						if i > 6 && round > 1 {
							break
						}
						for k, b := range in[at] {
							if want := byte(round + i + k + r + 7*c.Rank); b != want {
								return fmt.Errorf("byte %d of %d from rank %d is %d, want %d", k, len(in[at]), r, b, want)
							}
						}
						at++
					}
				}
			}
			disconnect(w, c)
			return err
		})
		stop()
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
		if n := mappings(); n != 0 {
			t.Errorf("%s: %d segments of two jobs are mapped at the end", fabric, n)
		}
	}
}

// A process that sleeps is woken by a message of a process of another job (X-DYN-01).
func TestMessagesOfTwoJobsWakeSleepers(t *testing.T) {
	for _, fabric := range fabrics() {
		stop := guard(fabric)
		err := met(fabric, []int{1, 1}, func(ctx context.Context, job int, w *world.World, c *comm.Comm) error {
			b := make([]byte, 8)
			for i := range 20 {
				if i%2 == job {
					time.Sleep(2 * time.Millisecond) // the other one sleeps by then, or it will: both must work
					if err := w.P2P.Send(c, p2p.Standard, 0, b, 0, 1); err != nil {
						return err
					}
					continue
				}
				var s p2p.Status
				w.P2P.Recv(c, b, 0, 1, &s)
				if s.Err != nil {
					return s.Err
				}
			}
			disconnect(w, c)
			return nil
		})
		stop()
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// What a process has sent before it ends arrives at the processes of another job, and then they learn of its end
// (X-DYN-01, ERR-15).
func TestLastMessagesOfAnotherJobArrive(t *testing.T) {
	const last = 20
	for _, fabric := range fabrics() {
		stop := guard(fabric)
		err := met(fabric, []int{1, 1}, func(ctx context.Context, job int, w *world.World, c *comm.Comm) error {
			b := make([]byte, 8)
			var s p2p.Status
			if job == 1 {
				if err := w.P2P.Send(c, p2p.Standard, 0, b, 0, 1); err != nil {
					return err
				}
				w.P2P.Recv(c, b, 0, 1, &s) // the other one has the lock until this one has ended
				for range last {
					if err := w.P2P.Send(c, p2p.Standard, 0, b, 0, 1); err != nil {
						return err
					}
				}
				return errEnded
			}
			w.P2P.Recv(c, b, 0, 1, &s) // there is a connection
			w.Proc.Lock()
			for range 64 { // polling mode: the other one does not ring
				w.Proc.Progress(-1)
			}
			r := w.P2P.Isend(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: 0, Tag: 1}, mem.Of(b))
			w.P2P.Wait(r)
			w.P2P.Free(r)
			<-ctx.Done()
			w.Proc.Unlock()
			time.Sleep(30 * time.Millisecond) // polling mode ends: then the first poll finds messages and end
			for i := range last {
				w.P2P.Recv(c, b, 0, 1, &s)
				if s.Err != nil {
					t.Errorf("%s: message %d of %d before the end: %v", fabric, i, last, s.Err)
					break
				}
			}
			w.P2P.Recv(c, b, 0, 1, &s)
			var ce *class.Error
			if !errors.As(s.Err, &ce) || ce.Class != class.ProcFailed {
				t.Errorf("%s: a receive from a process that has ended: %v", fabric, s.Err)
			}
			disconnect(w, c)
			return nil
		})
		stop()
		if !errors.Is(err, errEnded) {
			t.Errorf("%s: %v", fabric, err)
		}
		if n := mappings(); n != 0 {
			t.Errorf("%s: %d segments of two jobs are mapped at the end", fabric, n)
		}
	}
}

// If one of two jobs uses no shared memory their messages travel through sockets, those that waited for the
// connection, too (X-DYN-01).
func TestMessagesWithAJobWithoutMemory(t *testing.T) {
	for _, fabrics := range [][2]string{{"shm", "tcp"}, {"tcp", "inproc"}} {
		stop := guard(fmt.Sprint(fabrics))
		names, errs := make(chan string, 1), make(chan error, 2)
		for job, fabric := range fabrics {
			go func() {
				errs <- world.RunGoroutines(fabric, 2, func(w *world.World) (err error) {
					var c *comm.Comm
					if job == 0 {
						c, err = accept(context.Background(), w, names)
					} else {
						c, err = connect(context.Background(), w, names)
					}
					if err != nil {
						return err
					}
					var requests []*p2p.Request
					w.Proc.Lock()
					for range 3 {
						for r := range c.Size() {
							for _, n := range []int{8, 8 << 10, 60 << 10, 300 << 10} {
								v := p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: r, Tag: 1}
								requests = append(requests, w.P2P.Isend(&v, mem.Of(make([]byte, n))), w.P2P.Irecv(&v, mem.Of(make([]byte, n))))
							}
						}
					}
					for _, r := range requests {
						w.P2P.Wait(r)
						err = errors.Join(err, r.Status.Err)
						w.P2P.Free(r)
					}
					for _, m := range c.Members {
						if w.Proc.ThroughRings(int(m)) {
							err = errors.Join(err, fmt.Errorf("frames to process %d travel through memory", m))
						}
					}
					w.Proc.Unlock()
					disconnect(w, c)
					return err
				})
			}()
		}
		if err := errors.Join(<-errs, <-errs); err != nil {
			t.Errorf("%v: %v", fabrics, err)
		}
		stop()
	}
}

// Two jobs meet three times, and one process forgets the other one in between, while that keeps it, since it meets it in
// another goroutine, too: the eager credit is whole after each meeting, so that neither sends, or returns, more than the
// other one counts (X-DYN-01).
func TestCreditAfterAMeeting(t *testing.T) {
	for _, fabric := range fabrics() {
		for keeper := range 2 {
			names, forgotten := make(chan string, 1), make(chan bool, 1)
			err := world.RunJobs(fabric, []int{1, 1}, func(ctx context.Context, job int, w *world.World) error {
				if job != keeper {
					return forgets(ctx, t, job, w, names, forgotten)
				}
				return keeps(ctx, job, w, names, forgotten)
			})
			if err != nil {
				t.Errorf("%s, process %d keeps the other one: %v", fabric, keeper, err)
			}
		}
	}
}

// late are the lengths of messages that are received when the sender has gone: shorter each time, so that credit that is returned then
// would be more than the sender has used.
var late = []int{3000, 2000, 1000}

// forgets meets the other job, and forgets it each time.
func forgets(ctx context.Context, t *testing.T, job int, w *world.World, names chan string, forgotten chan<- bool) error {
	for _, n := range late {
		c, err := meeting(ctx, job, w, names)
		if err != nil {
			return err
		}
		other := w.Proc.Identity(int(c.Members[0]))
		if err := stream(w, c); err != nil {
			return err
		}
		if err := w.P2P.Send(c, p2p.Standard, 0, make([]byte, n), 0, 2); err != nil {
			return err
		}
		disconnect(w, c)
		testrun.Until(t, "the other process is forgotten", func() bool {
			w.Proc.Lock()
			defer w.Proc.Unlock()
			w.Proc.Progress(-1)
			return w.Proc.Number(other) < 0
		})
		forgotten <- true
	}
	return nil
}

// keeps meets the other job, which it holds until the end. It receives the last message of a meeting when the sender has
// gone.
func keeps(ctx context.Context, job int, w *world.World, names chan string, forgotten <-chan bool) error {
	var held []int32
	for _, n := range late {
		c, err := meeting(ctx, job, w, names)
		if err != nil {
			return err
		}
		w.Proc.Lock()
		w.Proc.Hold(c.Members)
		w.Proc.Unlock()
		held = append(held, c.Members...)
		if err := stream(w, c); err != nil {
			return err
		}
		w.Meet.Unlink(c)
		<-forgotten
		var s p2p.Status
		w.P2P.Recv(c, make([]byte, n), 0, 2, &s)
		w.Coll.Free(c)
		if s.Err != nil {
			return s.Err
		}
	}
	w.Proc.Lock()
	w.Proc.Release(held)
	w.Proc.Unlock()
	return nil
}

// stream sends 1.2 MB of eager messages in each direction.
func stream(w *world.World, c *comm.Comm) error {
	b := make([]byte, 4000)
	for range 300 {
		if err := w.P2P.Send(c, p2p.Standard, 0, b, 0, 1); err != nil {
			return err
		}
		var s p2p.Status
		w.P2P.Recv(c, b, 0, 1, &s)
		if s.Err != nil {
			return s.Err
		}
	}
	return nil
}
