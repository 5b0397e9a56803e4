package mpi_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// neverEnds is a context that is never done, although it could be cancelled.
func neverEnds() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	return ctx
}

// Any number of goroutines use one communicator: 32 per rank make random steps, the same in each
// rank, and check the results. ENV-10: goroutines are threads of any level.
func TestTRM01_ManyGoroutinesOneCommunicator(t *testing.T) {
	const workers = 32
	steps := 60
	if testrun.Race {
		steps = 20
	}
	for _, n := range []int{1, 2, 4, 9} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					if err := wander(c, w, max(steps/n, 5)); err != "" {
						t.Errorf("rank %d worker %d: %s", c.Rank(), w, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// wander shifts messages along the ring of the workers w of all ranks, in each step with another
// call, distance and length.
func wander(c *mpi.Comm, w, steps int) (problem string) {
	r := rand.New(rand.NewPCG(uint64(w), 7))
	n := c.Size()
	for step := range steps {
		far := r.IntN(n)
		size := []int{0, 8, 24, 200, 5000, 9000, 66_000, 270_000}[r.IntN(8)]
		if r.IntN(4) > 0 {
			size = min(size, 200)
		}
		how, tag := r.IntN(7), step*64+w // the workers do not wait for each other: a step may be ahead
		dest, source := (c.Rank()+far)%n, (c.Rank()+n-far)%n
		seed := func(rank int) uint64 { return uint64(rank*1_000_000 + w*1000 + step) }
		out, in := payload(size, seed(c.Rank())), make([]byte, size)
		var st mpi.Status
		var err error
		switch how {
		case 0:
			st, err = mpi.Sendrecv(c, out, dest, tag, in, source, tag)
		case 1:
			copy(in, out)
			st, err = mpi.SendrecvReplace(c, in, dest, tag, source, tag)
		case 2:
			rs := []mpi.Request{mpi.Irecv(c, in, mpi.AnySource, tag), mpi.Issend(c, out, dest, tag)}
			sts := make([]mpi.Status, 2)
			err = mpi.Waitall(rs, sts)
			st = sts[0]
		case 3:
			s := mpi.Isend(c, out, dest, tag)
			var m mpi.Message
			m, _, err = c.Mprobe(source, tag)
			if err == nil {
				st, err = mpi.Mrecv(&m, in)
			}
			if err == nil {
				_, err = s.Wait()
			}
		case 4:
			s := mpi.Isend(c, out, dest, tag)
			for found := false; !found && err == nil; {
				st, found, err = c.Iprobe(source, tag)
			}
			if err == nil {
				st, err = mpi.Recv(c, in, st.Source, st.Tag)
			}
			for done := false; !done && err == nil; {
				_, done, err = s.Test()
			}
		case 5:
			s, q := mpi.SendInit(c, out, dest, tag), mpi.RecvInit(c, in, source, tag)
			rs := []mpi.Request{s, q}
			err = mpi.Startall(rs)
			if err == nil {
				for range rs {
					i, one, e := mpi.Waitany(rs)
					if i == 1 {
						st = one
					}
					if e != nil {
						err = e
					}
				}
			}
			for i := range rs {
				if e := rs[i].Free(); e != nil {
					err = e
				}
			}
		case 6:
			q := mpi.Irecv(c, in, source, tag)
			if s := mpi.Isend(c, out, dest, tag); err == nil {
				_, err = s.WaitContext(context.Background())
			}
			if err == nil {
				st, err = q.Wait()
			}
		}
		switch {
		case err != nil:
			return err.Error()
		case st.Source != source || st.Tag != tag || st.Bytes() != int64(size):
			return "wrong status"
		case string(in) != string(payload(size, seed(source))):
			return "wrong payload"
		}
	}
	return ""
}

// Goroutines that wait for different events share the engine of one process: no wait is lost
// when the poller leaves, in any order of arrivals and departures.
func TestWaitersComeAndGo(t *testing.T) {
	const workers, rounds = 16, 40
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), uint64(c.Rank())))
				for i := range rounds {
					if c.Rank() == 0 {
						for range r.IntN(200) { // so that the others fall asleep or not
							_ = payload(64, uint64(i))
						}
						if err := mpi.Send(c, []int{i}, peer, w); err != nil {
							t.Error(err)
						}
						if w%4 == 0 { // a message to oneself: an event without a poll
							q := mpi.Irecv(c, []int{0}, 0, 1000+w)
							if err := mpi.Send(c, []int{i}, 0, 1000+w); err != nil {
								t.Error(err)
							}
							if _, err := q.Wait(); err != nil {
								t.Error(err)
							}
						}
						if _, err := mpi.Recv(c, []int{0}, peer, w); err != nil {
							t.Error(err)
						}
						continue
					}
					b := []int{-1}
					if _, err := mpi.Recv(c, b, peer, w); err != nil || b[0] != i {
						t.Errorf("worker %d round %d: received %d (%v)", w, i, b[0], err)
					}
					if err := mpi.Ssend(c, b, peer, w); err != nil {
						t.Error(err)
					}
				}
			})
		}
		// Barriers on another communicator at the same time: they wait for words of shared
		// memory.
		d, err := c.Dup()
		ok(t, err)
		for range rounds {
			ok(t, d.Barrier())
		}
		wg.Wait()
		ok(t, d.Free())
	})
}
