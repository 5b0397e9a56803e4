package mpi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// X-PRT-01: all calls that complete requests complete partitioned ones, together with others.
func TestXPRT01_CompletingCalls(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		out, in, message := make([]int32, 8), make([]int32, 8), make([]int32, 1)
		rs := []mpi.Request{mpi.PrecvInit(c, in, 2, peer, 4), mpi.PsendInit(c, out, 4, peer, 4), mpi.RecvInit(c, message, peer, 4)}
		for round := range 20 {
			ok(t, mpi.Startall(rs))
			for i := range out {
				out[i] = int32(100*round + i)
			}
			if _, done, err := rs[1].Test(); done || err != nil {
				t.Fatalf("a send without partitions is complete: %v, %v", done, err)
			}
			ok(t, rs[1].PreadyList([]int{3, 1, 2}))
			if done, err := mpi.Testall(rs, nil); done || err != nil {
				t.Fatalf("a send with one partition missing is complete: %v, %v", done, err)
			}
			ok(t, rs[1].Pready(0))
			ok(t, mpi.Send(c, []int32{int32(round)}, peer, 4))
			sts := make([]mpi.Status, 3)
			switch round % 5 {
			case 0:
				ok(t, mpi.Waitall(rs, sts))
			case 1:
				for range rs {
					k, st, err := mpi.Waitany(rs)
					ok(t, err)
					sts[k] = st
				}
			case 2:
				for left := len(rs); left > 0; {
					var which [3]int
					var some [3]mpi.Status
					n, err := mpi.Waitsome(rs, which[:], some[:])
					ok(t, err)
					for k := range n {
						sts[which[k]] = some[k]
					}
					left -= n
				}
			case 3:
				for k := range rs {
					for done := false; !done; {
						var err error
						sts[k], done, err = rs[k].GetStatus()
						if err != nil {
							t.Fatal(err)
						}
					}
					_, err := rs[k].Wait()
					ok(t, err)
				}
			case 4:
				for k := range rs {
					var err error
					sts[k], err = rs[k].Wait()
					ok(t, err)
				}
			}
			wantStatus(t, sts[0], peer, 4, 32)
			wantStatus(t, sts[2], peer, 4, 4)
			for i, v := range in {
				if v != int32(100*round+i) {
					t.Fatalf("round %d: element %d is %d", round, i, v)
				}
			}
		}
		for i := range rs {
			ok(t, rs[i].Free())
		}
	})
}

// X-PRT-01: a receiver that sleeps in Wait is woken by the last partition, and a sender that sleeps
// by the start of the receive.
func TestXPRT01_SleepersAreWoken(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			defer testrun.Watch("TestXPRT01_SleepersAreWoken hangs")()
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				buf, free := partMemory[int64](t, c, kind, 4)
				defer free()
				for turn := range 2 {
					var r mpi.Request
					if c.Rank() == 0 {
						r = mpi.PsendInit(c, buf, 2, 1, 0)
					} else {
						r = mpi.PrecvInit(c, buf, 2, 0, 0)
					}
					ok(t, c.Barrier())
					for range 2 {
						if turn == c.Rank() {
							time.Sleep(10 * time.Millisecond) // the other one sleeps: before a start of the receive, or a partition
						}
						ok(t, r.Start())
						if c.Rank() == 0 {
							ok(t, r.PreadyRange(0, 1))
						}
						_, err := r.Wait()
						ok(t, err)
					}
					ok(t, r.Free())
				}
			})
		})
	}
}

// A round of a partitioned message allocates nothing.
func TestXPRT01_RoundsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	for _, x := range []struct {
		kind string
		n    int
	}{{"slice", 6000}, {"AllocMem", 6000}, {"slice", 30000}} { // the kernel copies partitions of the last one
		t.Run(fmt.Sprint(x.kind, " ", x.n), func(t *testing.T) {
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				const runs = 200
				buf, free := partMemory[int64](t, c, x.kind, x.n)
				defer free()
				var r mpi.Request
				if c.Rank() == 0 {
					r = mpi.PsendInit(c, buf, 12, 1, 0)
				} else {
					r = mpi.PrecvInit(c, buf, 4, 0, 0)
				}
				var failed error
				step := func() {
					err := r.Start()
					for i := 0; i < 12 && c.Rank() == 0 && err == nil; i++ {
						err = r.Pready(i)
					}
					if err == nil {
						_, err = r.Wait()
					}
					if err != nil && failed == nil {
						failed = err
					}
				}
				for range runs {
					step()
				}
				if c.Rank() == 0 {
					if n := testing.AllocsPerRun(runs, step); n >= 1 {
						t.Errorf("%v allocations per round", n)
					}
				} else {
					for range runs + 1 {
						step()
					}
				}
				ok(t, failed)
				ok(t, r.Free())
			})
		})
	}
}
