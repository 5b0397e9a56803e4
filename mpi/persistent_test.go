package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Making a persistent request does not communicate.
func TestPER01_InitIsSilent(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			var rs []mpi.Request
			for _, m := range modes() {
				rs = append(rs, m.init(c, make([]byte, 10), 1, 0))
			}
			rs = append(rs, mpi.RecvInit(c, make([]byte, 10), 1, 0))
			ok(t, mpi.Send(c, []byte{}, 1, 1))
			_, err := mpi.Recv(c, []byte{}, 1, 1)
			ok(t, err)
			for i := range rs {
				ok(t, rs[i].Free()) // PER-02: without a start
			}
			return
		}
		_, err := mpi.Recv(c, []byte{}, 0, 1)
		ok(t, err)
		if _, found, err := c.Iprobe(0, 0); found || err != nil {
			t.Fatalf("a send that was not started is there (%v)", err)
		}
		ok(t, mpi.Send(c, []byte{}, 0, 1))
	})
}

// A thousand rounds of the life cycle: Create (Start Complete)* Free.
func TestPER02_LifeCycle(t *testing.T) {
	for _, size := range []int{0, 24, 9000, 70_000} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			turns := 1000
			if size > 10_000 || testrun.Race {
				turns = 100
			}
			peer := 1 - c.Rank()
			out, in := make([]byte, size), make([]byte, size)
			rs := []mpi.Request{mpi.RecvInit(c, in, peer, 2), mpi.SendInit(c, out, peer, 2)}
			for i := range turns {
				fill(out, uint64(i))
				ok(t, mpi.Startall(rs))
				if i%100 == 0 {
					wantActive(t, &rs[i/100%2])
				}
				var sts [2]mpi.Status
				switch i % 4 {
				case 0:
					ok(t, mpi.Waitall(rs, sts[:]))
				case 1:
					for k := range rs {
						var err error
						sts[k], err = rs[k].Wait()
						ok(t, err)
					}
				case 2:
					for done := false; !done; {
						var err error
						done, err = mpi.Testall(rs, sts[:])
						ok(t, err)
					}
				case 3:
					for range rs {
						k, st, err := mpi.Waitany(rs)
						ok(t, err)
						sts[k] = st
					}
				}
				wantStatus(t, sts[0], peer, 2, size)
				wantPayload(t, in, size, uint64(i))
			}
			for i := range rs {
				ok(t, rs[i].Free())
			}
		})
	}
}

// wantActive checks that calls which an active request does not allow are errors.
func wantActive(t testing.TB, r *mpi.Request) {
	t.Helper()
	if err := r.Start(); err != nil {
		wantClass(t, err, mpi.ErrRequest)
		return
	}
	t.Fatal("an active request has been started")
}

// A request that is not persistent cannot be started.
func TestPER02_OnlyPersistentRequestsStart(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		r := mpi.Irecv(c, make([]byte, 1), 0, 0)
		wantClass(t, r.Start(), mpi.ErrRequest)
		p := mpi.SendInit(c, make([]byte, 1), 0, 0)
		rs := []mpi.Request{p, r}
		wantClass(t, mpi.Startall(rs), mpi.ErrRequest)
		ok(t, mpi.Waitall(rs, nil)) // the first one was started, and r receives its message
		ok(t, p.Free())
		bad := mpi.RecvInit(c, make([]byte, 1), 3, 0)
		wantClass(t, bad.Start(), mpi.ErrRank)
	})
}

// Persistent sends and receives match ordinary ones.
func TestPER03_PersistentMeetsOrdinary(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		b := make([]byte, 500)
		if c.Rank() == 0 {
			s := mpi.SsendInit(c, b, 1, 0)
			for i := range 20 {
				fill(b, uint64(i))
				ok(t, s.Start())
				_, err := s.Wait()
				ok(t, err)
				fill(b, uint64(i+100))
				ok(t, mpi.Send(c, b, 1, 0))
			}
			ok(t, s.Free())
			return
		}
		r := mpi.RecvInit(c, b, mpi.AnySource, mpi.AnyTag)
		for i := range 20 {
			_, err := mpi.Recv(c, b, 0, 0)
			ok(t, err)
			wantPayload(t, b, 500, uint64(i))
			ok(t, r.Start())
			st, err := r.Wait()
			ok(t, err)
			wantStatus(t, st, 0, 0, 500)
			wantPayload(t, b, 500, uint64(i+100))
		}
		ok(t, r.Free())
	})
}

// A persistent receive that fails can be started again.
func TestPER04_StartAgainAfterError(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 0 {
			for _, n := range []int{100, 10, 300_000, 10} {
				ok(t, mpi.Send(c, payload(n, 1), 1, 0))
			}
			return
		}
		b := make([]byte, 10)
		r := mpi.RecvInit(c, b, 0, 0)
		for _, n := range []int{100, 10, 300_000, 10} {
			ok(t, r.Start())
			st, err := r.Wait()
			if n > 10 {
				wantClass(t, err, mpi.ErrTruncate)
			} else {
				ok(t, err)
			}
			wantStatus(t, st, 0, 0, 10)
		}
		ok(t, r.Free())
	})
}

// Freeing a request does not end its operation, and its memory is not reused before the
// operation ends.
func TestP2P17_FreeOfActiveRequests(t *testing.T) {
	for _, size := range []int{0, 100, 20_000, 400_000} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			const n = 20
			if c.Rank() == 0 {
				for i := range n {
					r := mpi.Isend(c, payload(size, uint64(i)), 1, i)
					if i%3 == 1 {
						r = mpi.Issend(c, payload(size, uint64(1000+i)), 1, 1000+i)
					} else if i%3 == 2 {
						r = mpi.SendInit(c, payload(size, uint64(1000+i)), 1, 1000+i)
						ok(t, r.Start())
					}
					if i%3 != 0 {
						other := mpi.Isend(c, payload(size, uint64(i)), 1, i)
						ok(t, other.Free())
					}
					ok(t, r.Free())
					if !r.IsNull() {
						t.Fatal("a freed request is not null")
					}
				}
				// Freed receives complete, too, so that later messages do not match them.
				b := make([]byte, size+1)
				r := mpi.Irecv(c, b, 1, 7)
				ok(t, r.Free())
				_, err := mpi.Recv(c, []byte{}, 1, 8)
				ok(t, err)
				return
			}
			for i := n - 1; i >= 0; i-- {
				b, _, err := mpi.RecvSlice[byte](c, 0, i)
				ok(t, err)
				wantPayload(t, b, size, uint64(i))
				if i%3 != 0 {
					b, _, err := mpi.RecvSlice[byte](c, 0, 1000+i)
					ok(t, err)
					wantPayload(t, b, size, uint64(1000+i))
				}
			}
			ok(t, mpi.Ssend(c, payload(size, 7), 0, 7))
			ok(t, mpi.Send(c, []byte{}, 0, 8))
		})
	}
}

// A receive that is not matched can be cancelled; a matched one cannot.
func TestP2P15_Cancel(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		r := mpi.Irecv(c, make([]byte, 8), peer, 0)
		ok(t, r.Cancel())
		ok(t, r.Cancel()) // again, before the wait
		st, err := r.Wait()
		ok(t, err)
		if !st.Cancelled() || st.Bytes() != 0 {
			t.Fatalf("status of a cancelled receive: %+v", st)
		}
		p := mpi.RecvInit(c, make([]byte, 8), mpi.AnySource, mpi.AnyTag)
		for range 3 {
			ok(t, p.Start())
			ok(t, p.Cancel())
			st, done, err := p.Test()
			ok(t, err)
			if !done || !st.Cancelled() {
				t.Fatalf("status of a cancelled persistent receive: %v %+v", done, st)
			}
		}
		ok(t, c.Barrier())
		// A message that arrived before is received; Cancel makes the receive ignore later ones.
		for i, size := range []int{8, 20_000, 300_000} {
			b := make([]byte, size)
			r := mpi.Irecv(c, b, peer, i)
			s := mpi.Isend(c, payload(size, 3), peer, i)
			ok(t, c.Barrier())
			for done := false; !done; {
				_, done, err = r.GetStatus()
				ok(t, err)
			}
			ok(t, r.Cancel())
			st, err := r.Wait()
			ok(t, err)
			if st.Cancelled() {
				t.Fatal("a receive was cancelled after it was complete")
			}
			wantStatus(t, st, peer, i, size)
			wantPayload(t, b, size, 3)
			_, err = s.Wait()
			ok(t, err)
			s = mpi.Issend(c, payload(size, 4), peer, 50)
			_, err = mpi.Recv(c, b, peer, 50)
			ok(t, err)
			ok(t, c.Barrier())
			ok(t, s.Cancel())
			st, err = s.Wait()
			ok(t, err)
			if st.Cancelled() { // P2P-10
				t.Fatal("a send was cancelled after it was received")
			}
		}
		ok(t, p.Start()) // and the persistent one still works
		ok(t, mpi.Ssend(c, []byte{9}, peer, 77))
		st, err = p.Wait()
		ok(t, err)
		wantStatus(t, st, peer, 77, 1)
		ok(t, p.Free())
	})
}

// Cancel races with the message: either this receive gets it or the next one does.
func TestP2P15_CancelRace(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const turns = 300
		cancelled := 0
		for i := range turns {
			size := []int{8, 9000, 70_000}[i%3]
			if c.Rank() == 0 {
				ok(t, mpi.Send(c, payload(size, uint64(i)), 1, 0))
				_, err := mpi.Recv(c, []byte{}, 1, 1)
				ok(t, err)
				continue
			}
			b := make([]byte, size)
			r := mpi.Irecv(c, b, 0, 0)
			for range i % 7 {
				_, _, err := r.GetStatus()
				ok(t, err)
			}
			ok(t, r.Cancel())
			st, err := r.Wait()
			ok(t, err)
			if st.Cancelled() {
				cancelled++
				_, err := mpi.Recv(c, b, 0, 0)
				ok(t, err)
			}
			wantPayload(t, b, size, uint64(i))
			ok(t, mpi.Send(c, []byte{}, 0, 1))
		}
		t.Logf("%d of %d cancelled", cancelled, turns)
	})
}
