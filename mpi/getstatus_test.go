package mpi_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// GetStatus makes progress and does not complete the request.
func TestXP2P04_GetStatus(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		for i, size := range []int{0, 100, 50_000, 400_000} {
			b := make([]byte, size)
			r, s := mpi.Irecv(c, b, peer, i), mpi.Isend(c, payload(size, 4), peer, i)
			for {
				st, done, err := r.GetStatus()
				ok(t, err)
				if !done {
					continue
				}
				again, done, err := r.GetStatus()
				ok(t, err)
				if !done || again != st {
					t.Fatalf("second GetStatus: %v %+v, first %+v", done, again, st)
				}
				wantStatus(t, st, peer, i, size)
				wantPayload(t, b, size, 4)
				break
			}
			st, err := r.Wait()
			ok(t, err)
			wantStatus(t, st, peer, i, size)
			_, err = s.Wait()
			ok(t, err)
		}
	})
}

// X-P2P-04: when GetStatus has reported that an operation is complete, its request can be freed, also
// that of a collective or of a window's operation, which otherwise cannot.
func TestXP2P04_FreeAfterGetStatus(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		in, out := []int{c.Rank() + 1}, []int{0}
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		ok(t, w.LockAll(0))
		persistent := mpi.AllreduceInit(c, in, []int{0}, mpi.Sum)
		for range 3 {
			out[0] = 0
			if c.Rank() == 0 { // the request of rank 1 is active until rank 0 takes part
				_, err := mpi.Recv(c, []byte{0}, 1, 0)
				ok(t, err)
			}
			ok(t, persistent.Start())
			r := mpi.Iallreduce(c, in, out, mpi.Sum)
			put := w.Rput([]int{7}, 1-c.Rank(), 0)
			if c.Rank() == 1 {
				wantClass(t, r.Free(), mpi.ErrRequest)
				wantClass(t, persistent.Free(), mpi.ErrRequest)
				ok(t, mpi.Send(c, []byte{0}, 0, 0))
			}
			for _, q := range []*mpi.Request{&persistent, &r, &put} {
				for done := false; !done; {
					_, done, err = q.GetStatus()
					ok(t, err)
				}
			}
			ok(t, r.Free())
			ok(t, put.Free())
			if !r.IsNull() || !put.IsNull() || out[0] != 3 {
				t.Errorf("null %v and %v, sum %d, want 3", r.IsNull(), put.IsNull(), out[0])
			}
			_, err = persistent.Wait()
			ok(t, err)
		}
		ok(t, persistent.Start())
		ok(t, func() error { _, err := mpi.GetStatusAll([]mpi.Request{persistent}, nil); return err }())
		for done := false; !done; {
			_, done, err = persistent.GetStatus()
			ok(t, err)
		}
		ok(t, persistent.Free())
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}

// WaitContext returns when its context is done; the operation continues.
func TestWaitContextGivesUpAndResumes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 1 {
			for range 3 {
				_, err := mpi.Recv(c, []byte{}, 0, 1)
				ok(t, err)
				ok(t, mpi.Send(c, payload(100_000, 8), 0, 0))
			}
			return
		}
		why := errors.New("tea time")
		for k := range 3 {
			b := make([]byte, 100_000)
			r := mpi.Irecv(c, b, 1, 0)
			for range 3 {
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				switch k {
				case 0:
					cancel(why) // before the wait
				case 1:
					time.AfterFunc(time.Millisecond, func() { cancel(why) }) // during the wait
				case 2:
					go func() { cancel(why) }()
				}
				if _, err := r.WaitContext(ctx); err != why {
					t.Fatalf("WaitContext: %v, want the cause of the context's end", err)
				}
			}
			if _, done, err := r.Test(); done || err != nil {
				t.Fatalf("the request is complete: %v", err)
			}
			ok(t, mpi.Send(c, []byte{}, 1, 1))
			ctx, cancel := context.WithCancel(context.Background())
			st, err := r.WaitContext(ctx)
			cancel()
			ok(t, err)
			wantStatus(t, st, 1, 0, 100_000)
			wantPayload(t, b, 100_000, 8)
		}
	})
}

// Goroutines that wait for groups of requests at the same time do not affect each other.
func TestP2P11_GroupWaitsFromManyGoroutines(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		const workers, rounds, width = 8, 60, 5
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				peer := 1 - c.Rank()
				for round := range rounds {
					rs := make([]mpi.Request, 2*width)
					bufs := make([][]byte, width)
					for i := range width {
						bufs[i] = make([]byte, 64)
						rs[i] = mpi.Irecv(c, bufs[i], peer, w*100+i)
					}
					for i := range width {
						rs[width+i] = mpi.Isend(c, payload(64, uint64(w*10+i)), peer, w*100+i)
					}
					left := len(rs)
					idx, sts := make([]int, len(rs)), make([]mpi.Status, len(rs))
					for left > 0 {
						var done []int
						switch (round + left) % 4 {
						case 0:
							i, st, err := mpi.Waitany(rs)
							if err != nil {
								t.Error(err)
								return
							}
							done, sts[0] = []int{i}, st
						case 1:
							i, st, found, err := mpi.Testany(rs)
							if err != nil {
								t.Error(err)
								return
							}
							if found {
								done, sts[0] = []int{i}, st
							}
						case 2:
							k, err := mpi.Waitsome(rs, idx, sts)
							if err != nil {
								t.Error(err)
								return
							}
							done = idx[:k]
						case 3:
							k, err := mpi.Testsome(rs, idx, sts)
							if err != nil {
								t.Error(err)
								return
							}
							done = idx[:k]
						}
						for j, i := range done {
							if i < 0 || i >= len(rs) || !rs[i].IsNull() {
								t.Errorf("request %d is reported, of %d", i, len(rs))
								return
							}
							if i < width && (sts[j].Tag != w*100+i || sts[j].Bytes() != 64) {
								t.Errorf("status of request %d of worker %d: tag %d", i, w, sts[j].Tag)
								return
							}
						}
						left -= len(done)
					}
					for i, b := range bufs {
						if string(b) != string(payload(64, uint64(w*10+i))) {
							t.Errorf("worker %d round %d request %d: wrong payload", w, round, i)
							return
						}
					}
				}
			})
		}
		wg.Wait()
	})
}
