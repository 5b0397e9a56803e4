package mpi_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Probe returns the status of the message that a receive with the same arguments would get, and
// does not take it.
func TestP2P15_ProbeThenExactReceive(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		for i, size := range sizes() {
			if size > 300_000 {
				continue
			}
			if c.Rank() != 0 {
				ok(t, mpi.Ssend(c, payload(size+c.Rank(), uint64(c.Rank())), 0, i))
				ok(t, c.Barrier())
				continue
			}
			for k := range 2 {
				source, tag := mpi.AnySource, mpi.AnyTag
				if i%2 == 0 {
					tag = i
				}
				if i%3 == 0 {
					source = 1 + k
				}
				st, err := c.Probe(source, tag)
				ok(t, err)
				wantStatus(t, st, st.Source, i, size+st.Source)
				again, found, err := c.Iprobe(st.Source, st.Tag)
				ok(t, err)
				if !found || again != st {
					t.Fatalf("Iprobe after Probe: %v %+v, Probe said %+v", found, again, st)
				}
				b := make([]byte, mpi.Count[byte](st))
				got, err := mpi.Recv(c, b, st.Source, st.Tag)
				ok(t, err)
				wantStatus(t, got, st.Source, i, len(b))
				wantPayload(t, b, len(b), uint64(st.Source))
			}
			if _, found, err := c.Iprobe(mpi.AnySource, i); found || err != nil {
				t.Fatalf("Iprobe finds a message that was received (%v)", err)
			}
			ok(t, c.Barrier())
		}
	})
}

// A matched probe takes the message: no other probe or receive gets it.
func TestXP2P01_MatchedProbe(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, size := range []int{0, 8, 9000, 70_000, 300_000} {
			if c.Rank() == 1 {
				rs := []mpi.Request{mpi.Isend(c, payload(size, 1), 0, 5), mpi.Isend(c, payload(size, 2), 0, 5), mpi.Isend(c, payload(size, 3), 0, 5)}
				ok(t, mpi.Waitall(rs, nil))
				ok(t, c.Barrier())
				continue
			}
			first, st, err := c.Mprobe(1, 5)
			ok(t, err)
			wantStatus(t, st, 1, 5, size)
			b := make([]byte, size)
			_, err = mpi.Recv(c, b, mpi.AnySource, mpi.AnyTag)
			ok(t, err)
			wantPayload(t, b, size, 2)
			var third mpi.Message
			for found := false; !found; {
				third, st, found, err = c.Improbe(mpi.AnySource, 5)
				ok(t, err)
			}
			wantStatus(t, st, 1, 5, size)
			r := mpi.Imrecv(&third, b)
			got, err := r.Wait()
			ok(t, err)
			wantStatus(t, got, 1, 5, size)
			wantPayload(t, b, size, 3)
			copied := first
			got, err = mpi.Mrecv(&first, b)
			ok(t, err)
			wantStatus(t, got, 1, 5, size)
			wantPayload(t, b, size, 1)
			_, err = mpi.Mrecv(&first, b)
			wantClass(t, err, mpi.ErrRequest)
			r = mpi.Imrecv(&third, b)
			_, err = r.Wait()
			wantClass(t, err, mpi.ErrRequest)
			_, err = mpi.Mrecv(&copied, b) // a copy of a message that has been received
			wantClass(t, err, mpi.ErrRequest)
			if _, _, found, err := c.Improbe(1, 5); found || err != nil {
				t.Fatalf("Improbe finds a message that was received (%v)", err)
			}
			ok(t, c.Barrier())
		}
	})
}

// Many goroutines probe and receive with wildcards: each message is received once.
func TestXP2P01_RacingProbes(t *testing.T) {
	const probers, per = 8, 150
	for _, n := range []int{2, 4} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			if c.Rank() != 0 {
				for i := range per {
					size := 8
					if i%10 == 3 {
						size = 70_000
					}
					b := make([]int64, size/8)
					b[0] = int64(c.Rank()*per + i)
					ok(t, mpi.Send(c, b, 0, i%3))
				}
				_, err := mpi.Recv(c, []byte{}, 0, 9)
				ok(t, err)
				return
			}
			total := int64(per * (n - 1))
			seen := make([]atomic.Int32, per*n)
			var got atomic.Int64
			var wg sync.WaitGroup
			count := func(b []int64) {
				seen[b[0]].Add(1)
				got.Add(1)
			}
			for w := range probers {
				wg.Go(func() {
					buf := make([]int64, 70_000/8)
					for got.Load() < total {
						tag := mpi.AnyTag
						if w%2 == 1 {
							tag = w % 3
						}
						if w == 0 {
							// A blocking matched probe ends with a message of this test.
							m, st, err := c.Mprobe(mpi.AnySource, mpi.AnyTag)
							if err != nil {
								t.Error(err)
								return
							}
							if _, err := mpi.Mrecv(&m, buf); err != nil {
								t.Error(err)
								return
							}
							if st.Tag == 100 {
								return
							}
							count(buf)
							continue
						}
						m, st, found, err := c.Improbe(mpi.AnySource, tag)
						if err != nil {
							t.Error(err)
							return
						}
						if !found {
							continue
						}
						r := mpi.Imrecv(&m, buf)
						if _, err := r.Wait(); err != nil {
							t.Error(err)
							return
						}
						if st.Tag == 100 { // a message for the goroutine that waits
							if err := mpi.Send(c, []int64{0}, 0, 100); err != nil {
								t.Error(err)
							}
							continue
						}
						count(buf)
					}
					if w == 1 {
						if err := mpi.Send(c, []int64{0}, 0, 100); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			for { // the last message may still be there
				_, found, err := c.Iprobe(mpi.AnySource, 100)
				ok(t, err)
				if !found {
					break
				}
				_, err = mpi.Recv(c, make([]int64, 1), 0, 100)
				ok(t, err)
			}
			for i := per; i < per*n; i++ {
				if k := seen[i].Load(); k != 1 {
					t.Fatalf("message %d was received %d times", i, k)
				}
			}
			for s := 1; s < n; s++ {
				ok(t, mpi.Send(c, []byte{}, s, 9))
			}
		})
	}
}

// RecvSlice allocates a slice of the right length, in many goroutines at the same time.
func TestRecvSliceSizesItself(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 40 {
					size := (i * i * 37) % 20_000
					if c.Rank() == 0 {
						b := make([]int32, size)
						for k := range b {
							b[k] = int32(w*i + k)
						}
						if err := mpi.Send(c, b, 1, w); err != nil {
							t.Error(err)
						}
						continue
					}
					b, st, err := mpi.RecvSlice[int32](c, 0, w)
					if err != nil || len(b) != size || mpi.Count[int32](st) != size {
						t.Errorf("RecvSlice: %d elements, want %d (%v)", len(b), size, err)
						return
					}
					for k := range b {
						if b[k] != int32(w*i+k) {
							t.Errorf("element %d is %d", k, b[k])
							return
						}
					}
				}
			})
		}
		wg.Wait()
	})
}
