package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// kinds are the kinds of memory of the two sides of a partitioned message: memory of Go, and memory
// of AllocMem, which ranks of a node map.
var kinds = []string{"slice", "AllocMem"}

// partMemory makes n numbers of a kind of memory. free frees them.
func partMemory[T any](t testing.TB, c *mpi.Comm, kind string, n int) (mem []T, free func()) {
	t.Helper()
	if kind == "slice" {
		return make([]T, n), func() {}
	}
	mem, err := mpi.AllocMem[T](c, n)
	ok(t, err)
	return mem, func() { ok(t, mpi.FreeMem(c, mem)) }
}

// arrivedAll waits until partitions lo to hi-1 have arrived.
func arrivedAll(t testing.TB, r mpi.Request, lo, hi int) {
	t.Helper()
	const often = 1000                      // misses before the pauses begin
	const pauseMax = 500 * time.Millisecond // a test that hangs has to be idle, with several goroutines that wait here
	misses, pause := 0, time.Millisecond
	for i := lo; i < hi; {
		there, err := r.Parrived(i)
		ok(t, err)
		switch {
		case there:
			i++
			misses, pause = 0, time.Millisecond
		case misses < often:
			misses++
			runtime.Gosched()
		default:
			time.Sleep(pause)
			pause = min(2*pause, pauseMax)
		}
	}
}

// X-PRT-01: 3 partitions of 4 elements match 4 partitions of 3. A partition of the receive has
// arrived when all elements of it have, and not earlier. Requests are started again.
func TestXPRT01_OtherPartitionsOnTheOtherSide(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				const rounds = 20
				buf, free := partMemory[int64](t, c, kind, 12)
				defer free()
				if c.Rank() == 0 {
					s := mpi.PsendInit(c, buf, 3, 1, 7)
					for round := range rounds {
						ok(t, s.Start())
						for k := range 3 {
							i := (k + round) % 3
							for e := 4 * i; e < 4*i+4; e++ {
								buf[e] = int64(100*round + e)
							}
							ok(t, s.Pready(i))
							if k == 0 { // the receiver finds one partition, and no more
								_, err := mpi.Recv(c, []byte{}, 1, 8)
								ok(t, err)
							}
						}
						_, err := s.Wait()
						ok(t, err)
					}
					ok(t, s.Free())
					return
				}
				r := mpi.PrecvInit(c, buf, 4, 0, 7)
				for i := range 4 {
					if there, err := r.Parrived(i); !there || err != nil {
						t.Fatalf("partition %d of an inactive request: %v, %v", i, there, err)
					}
				}
				for round := range rounds {
					ok(t, r.Start())
					first := []int{0, -1, 3}[round%3] // elements 4 to 7 complete none
					if first >= 0 {
						arrivedAll(t, r, first, first+1)
					}
					for i := range 4 {
						if there, err := r.Parrived(i); there != (i == first) || err != nil {
							t.Fatalf("round %d: partition %d: %v, %v", round, i, there, err)
						}
					}
					ok(t, mpi.Send(c, []byte{}, 0, 8))
					if round%2 == 0 {
						arrivedAll(t, r, 0, 4)
					}
					st, err := r.Wait()
					ok(t, err)
					wantStatus(t, st, 0, 7, 96)
					for e, v := range buf {
						if v != int64(100*round+e) {
							t.Fatalf("round %d: element %d is %d", round, e, v)
						}
					}
				}
				ok(t, r.Free())
			})
		})
	}
}

// X-PRT-01: requests match in the order in which they were made, for each communicator, source and
// tag; and not with other messages of the same envelope.
func TestXPRT01_MatchingInTheOrderOfInitialization(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		d, err := c.Dup()
		ok(t, err)
		comms, tags := []*mpi.Comm{c, c, d, c}, []int{1, 1, 1, 2}
		bufs := make([][]int32, len(comms))
		rs := make([]mpi.Request, len(comms))
		for i := range rs {
			bufs[i] = make([]int32, 6)
			if c.Rank() == 0 {
				rs[i] = mpi.PsendInit(comms[i], bufs[i], 3, 1, tags[i])
			} else {
				rs[i] = mpi.PrecvInit(comms[i], bufs[i], 2, 0, tags[i])
			}
		}
		if c.Rank() == 0 {
			ok(t, mpi.Send(c, []int32{-1}, 1, 1))
			for i := len(rs) - 1; i >= 0; i-- { // in another order than they were made
				ok(t, rs[i].Start())
				for k := range bufs[i] {
					bufs[i][k] = int32(10*i + k)
				}
				ok(t, rs[i].PreadyRange(0, 2))
			}
			ok(t, mpi.Waitall(rs, nil))
		} else {
			ok(t, mpi.Startall(rs))
			sts := make([]mpi.Status, len(rs))
			ok(t, mpi.Waitall(rs, sts))
			for i := range rs {
				wantStatus(t, sts[i], 0, tags[i], 24)
				for k, v := range bufs[i] {
					if v != int32(10*i+k) {
						t.Errorf("request %d: element %d is %d", i, k, v)
					}
				}
			}
			var one [1]int32
			_, err := mpi.Recv(c, one[:], 0, 1)
			ok(t, err)
			if one[0] != -1 {
				t.Errorf("the message is %d", one[0])
			}
		}
		for i := range rs {
			ok(t, rs[i].Free())
		}
		ok(t, d.Free())
	})
}

// X-PRT-01: requests that are never started, or whose turn comes after those that were freed.
func TestXPRT01_FreedRequestsTakeTheirTurn(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		buf := []int32{0, 0}
		var a, b mpi.Request
		if c.Rank() == 0 {
			a, b = mpi.PsendInit(c, buf, 1, 1, 3), mpi.PsendInit(c, buf, 2, 1, 3)
			ok(t, a.Free())
			buf[0], buf[1] = 5, 6
			ok(t, c.Barrier())
			ok(t, b.Start())
			ok(t, b.PreadyList([]int{1, 0}))
		} else {
			a = mpi.PrecvInit(c, make([]int32, 2), 1, 0, 3)
			ok(t, a.Free())
			ok(t, c.Barrier())
			b = mpi.PrecvInit(c, buf, 1, 0, 3)
			ok(t, b.Start())
		}
		_, err := b.Wait()
		ok(t, err)
		if buf[0] != 5 || buf[1] != 6 {
			t.Errorf("received %v", buf)
		}
		ok(t, b.Free())
	})
}

// X-PRT-01: partitions that are ready before the receive is started, or even made, wait; Pready and
// PreadyRange return.
func TestXPRT01_ReadyBeforeTheReceive(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			defer testrun.Watch("TestXPRT01_ReadyBeforeTheReceive hangs")()
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				const parts, rounds = 40, 3
				buf, free := partMemory[int64](t, c, kind, 10*parts)
				defer free()
				var r mpi.Request
				for round := range rounds {
					if c.Rank() == 0 {
						if round == 0 {
							r = mpi.PsendInit(c, buf, parts, 1, 0)
						}
						ok(t, r.Start())
						for i := range buf {
							buf[i] = int64(i + round)
						}
						ok(t, r.PreadyRange(2, 38))
						ok(t, r.PreadyList([]int{0, 39, 1}))
						ok(t, mpi.Send(c, []byte{}, 1, 0))
					} else {
						_, err := mpi.Recv(c, []byte{}, 0, 0)
						ok(t, err)
						for i := range buf {
							buf[i] = -1 // before the start the buffer is the program's
						}
						if round == 0 {
							r = mpi.PrecvInit(c, buf, 5, 0, 0)
						}
						ok(t, r.Start())
					}
					_, err := r.Wait()
					ok(t, err)
					for i, v := range buf {
						if v != int64(i+round) {
							t.Fatalf("round %d: element %d is %d", round, i, v)
						}
					}
				}
				ok(t, r.Free())
			})
		})
	}
}

// X-PRT-01: 8 goroutines mark 64 partitions, in any order, and a receive of 16 gets them. Half of
// the goroutines of the receiver wait for partitions of their own. Short partitions, and those that
// the kernel copies at once.
func TestXPRT01_EightGoroutines(t *testing.T) {
	const parts, rparts, workers = 64, 16, 8
	for _, x := range []struct {
		kind         string
		each, rounds int
	}{{"slice", 96, 16}, {"AllocMem", 96, 16}, {"slice", 4096, 4}} {
		kind, each, rounds := x.kind, x.each, x.rounds
		if testrun.Race {
			rounds /= 2
		}
		t.Run(fmt.Sprint(kind, " ", each), func(t *testing.T) {
			defer testrun.Watch("TestXPRT01_EightGoroutines hangs")()
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				buf, free := partMemory[int32](t, c, kind, parts*each)
				defer free()
				var r mpi.Request
				if c.Rank() == 0 {
					r = mpi.PsendInit(c, buf, parts, 1, 0)
				} else {
					r = mpi.PrecvInit(c, buf, rparts, 0, 0)
				}
				for round := range rounds {
					ok(t, r.Start())
					order := rand.New(rand.NewPCG(uint64(round), 1)).Perm(parts)
					var wg sync.WaitGroup
					for w := range workers {
						wg.Go(func() {
							if c.Rank() == 1 {
								for i := w; i < rparts && w < workers/2; i += workers / 2 {
									arrivedAll(t, r, i, i+1)
									for k := i * len(buf) / rparts; k < (i+1)*len(buf)/rparts; k++ {
										if buf[k] != int32(round*k) {
											t.Errorf("round %d: element %d is %d", round, k, buf[k])
											return
										}
									}
								}
								return
							}
							for k := w; k < parts; k += workers {
								i := order[k]
								for k := i * each; k < (i+1)*each; k++ {
									buf[k] = int32(round * k)
								}
								if err := r.Pready(i); err != nil {
									t.Error(err)
								}
							}
						})
					}
					if round%2 == 0 {
						wg.Wait()
					}
					_, err := r.Wait()
					ok(t, err)
					wg.Wait()
					for k, v := range buf {
						if v != int32(round*k) {
							t.Fatalf("round %d: element %d is %d", round, k, v)
						}
					}
				}
				ok(t, r.Free())
			})
		})
	}
}

// X-PRT-01: the first round of a request may begin before the two sides have matched.
func TestXPRT01_FirstRounds(t *testing.T) {
	const turns = 60
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for turn := range turns {
			buf := make([]int32, 64)
			var r mpi.Request
			if c.Rank() == 0 {
				for i := range buf {
					buf[i] = int32(turn + i)
				}
				r = mpi.PsendInit(c, buf, 64, 1, 0)
				ok(t, r.Start())
				ok(t, r.PreadyRange(0, 63))
			} else {
				r = mpi.PrecvInit(c, buf, 32, 0, 0)
				ok(t, r.Start())
			}
			_, err := r.Wait()
			ok(t, err)
			for i, v := range buf {
				if v != int32(turn+i) {
					t.Fatalf("turn %d: element %d is %d", turn, i, v)
				}
			}
			ok(t, r.Free())
		}
	})
}

// X-PRT-01: no process, the process itself, no partitions, partitions without elements.
func TestXPRT01_EdgeCases(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		for _, x := range []struct{ count, parts, rparts int }{{0, 0, 0}, {0, 3, 2}, {0, 0, 5}, {0, 4, 0}, {6, 2, 3}} {
			for _, to := range []int{peer, c.Rank(), mpi.ProcNull} {
				out, in := make([]int16, x.count), make([]int16, x.count)
				s, r := mpi.PsendInit(c, out, x.parts, to, 9), mpi.PrecvInit(c, in, x.rparts, to, 9)
				for round := range 3 {
					early := (round+c.Rank())%2 == 0
					if early {
						ok(t, r.Start())
					}
					ok(t, s.Start())
					for i := range out {
						out[i] = int16(i + round)
					}
					for i := range x.parts {
						ok(t, s.Pready(i))
					}
					if !early {
						ok(t, r.Start())
					}
					st, err := r.Wait()
					ok(t, err)
					if to == mpi.ProcNull {
						wantStatus(t, st, mpi.ProcNull, mpi.AnyTag, 0)
					} else {
						wantStatus(t, st, to, 9, 2*x.count)
						for i, v := range in {
							if v != int16(i+round) {
								t.Fatalf("element %d is %d", i, v)
							}
						}
					}
					for i := range x.rparts {
						if there, err := r.Parrived(i); !there || err != nil {
							t.Fatalf("partition %d of an inactive request: %v, %v", i, there, err)
						}
					}
					_, err = s.Wait()
					ok(t, err)
				}
				ok(t, s.Free())
				ok(t, r.Free())
			}
		}
		var null mpi.Request
		if there, err := null.Parrived(3); !there || err != nil {
			t.Errorf("Parrived of a null request: %v, %v", there, err)
		}
	})
}
