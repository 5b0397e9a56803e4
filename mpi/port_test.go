package mpi_test

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// serve runs fn in two jobs that are connected: the first one has accepted at a port of its rank root,
// of which the second one has got the name by other means.
func serve(t *testing.T, sizes []int, fn func(t testing.TB, job int, world, inter *mpi.Comm)) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			serveOn(t, fabric, sizes, fn)
		})
	}
}

func serveOn(t testing.TB, fabric string, sizes []int, fn func(t testing.TB, job int, world, inter *mpi.Comm)) {
	names := make(chan string, 1)
	mpitest.JobsOn(t, fabric, sizes, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
		root := world.Size() - 1
		inter, err := meet(ctx, names, job == 0, world, root)
		if err != nil {
			t.Fatalf("job %d: %v", job, err)
		}
		fn(t, job, world, inter)
	})
}

// meet connects c with another communicator. The names of ports are passed in a channel.
func meet(ctx context.Context, names chan string, accepts bool, c *mpi.Comm, root int) (*mpi.Comm, error) {
	if !accepts {
		name := ""
		if c.Rank() == root {
			select {
			case name = <-names:
			case <-ctx.Done():
			}
		}
		return mpi.Connect(ctx, name, c, root)
	}
	var port *mpi.Port
	if c.Rank() == root {
		var err error
		port, err = mpi.OpenPort(c)
		if err != nil {
			return nil, err
		}
		defer port.Close()
		names <- port.Name()
	}
	return port.Accept(ctx, c, root)
}

// X-DYN-01: two jobs meet at a port, and exchange messages by an intercommunicator.
func TestXDYN01_AcceptAndConnect(t *testing.T) {
	for _, sizes := range [][]int{{1, 1}, {2, 3}, {3, 1}} {
		serve(t, sizes, func(t testing.TB, job int, world, inter *mpi.Comm) {
			if !inter.Inter() || inter.Size() != world.Size() || inter.Rank() != world.Rank() || inter.RemoteSize() != sizes[1-job] {
				t.Fatalf("job %d: the intercommunicator has rank %d of %d and %d others", job, inter.Rank(), inter.Size(), inter.RemoteSize())
			}
			for _, n := range []int{1, 100, 300_000} {
				var requests []mpi.Request
				got := make([][]int32, inter.RemoteSize())
				for r := range got {
					got[r] = make([]int32, n)
					requests = append(requests, mpi.Irecv(inter, got[r], r, 7))
					mine := make([]int32, n)
					for i := range mine {
						mine[i] = int32(1000*job + 10*inter.Rank() + r)
					}
					requests = append(requests, mpi.Isend(inter, mine, r, 7))
				}
				if err := mpi.Waitall(requests, nil); err != nil {
					t.Fatal(err)
				}
				for r := range got {
					if want := int32(1000*(1-job) + 10*r + inter.Rank()); got[r][0] != want || got[r][n-1] != want {
						t.Errorf("job %d: %d and %d from rank %d, want %d", job, got[r][0], got[r][n-1], r, want)
					}
				}
			}
			if err := inter.Disconnect(); err != nil {
				t.Error(err)
			}
		})
	}
}

// X-DYN-01: after connecting everything works across: collectives between the groups,
// duplicates, the merged communicator and what is made of it, windows.
func TestXDYN01_EverythingAcross(t *testing.T) {
	sizes := []int{2, 3}
	serve(t, sizes, func(t testing.TB, job int, world, inter *mpi.Comm) {
		one := []int64{int64(100*job + world.Rank())}
		got := make([]int64, sizes[1-job])
		if err := mpi.Allgather(inter, one, got); err != nil {
			t.Fatal(err)
		}
		for r, v := range got {
			if v != int64(100*(1-job)+r) {
				t.Errorf("job %d gathers %v", job, got)
			}
		}
		dup, err := inter.Dup()
		if err != nil {
			t.Fatal(err)
		}
		merged, err := dup.Merge(job == 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := world.Rank() + job*sizes[0]; merged.Rank() != want || merged.Size() != 5 {
			t.Fatalf("rank %d of %d of the merged communicator, want %d", merged.Rank(), merged.Size(), want)
		}
		sum := []int64{0}
		if err := mpi.Allreduce(merged, one, sum, mpi.Sum); err != nil || sum[0] != 0+1+100+101+102 {
			t.Fatalf("the sum over both jobs is %d: %v", sum[0], err)
		}
		part, err := merged.Split(merged.Rank()%2, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Barrier(); err != nil {
			t.Fatal(err)
		}
		win, err := mpi.WinAllocate[int64](merged, 5)
		if err != nil {
			t.Fatal(err)
		}
		if err := win.Fence(0); err != nil {
			t.Fatal(err)
		}
		for r := range merged.Size() {
			if err := win.Put(one, r, merged.Rank()); err != nil {
				t.Fatal(err)
			}
		}
		if err := win.Fence(0); err != nil {
			t.Fatal(err)
		}
		mem := win.Local()
		for r, v := range mem {
			if want := int64(r); r < 2 && v != want || r >= 2 && v != int64(100+r-2) {
				t.Errorf("job %d has %v", job, mem)
			}
		}
		if err := merged.Barrier(); err != nil {
			t.Fatal(err)
		}
		if err := win.Lock(mpi.LockExclusive, 0, 0); err != nil {
			t.Fatal(err)
		}
		if err := win.Accumulate([]int64{1}, 0, 4, mpi.Sum); err != nil {
			t.Fatal(err)
		}
		if err := win.Unlock(0); err != nil {
			t.Fatal(err)
		}
		if err := merged.Barrier(); err != nil {
			t.Fatal(err)
		}
		mem = win.Local()
		if merged.Rank() == 0 && mem[4] != 102+5 {
			t.Errorf("5 processes have added 1 to 102: %d", mem[4])
		}
		if err := win.Free(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*mpi.Comm{part, merged, dup, inter} {
			if err := c.Disconnect(); err != nil {
				t.Error(err)
			}
		}
	})
}

// X-DYN-01: collectives of all lengths on a communicator of two jobs. Messages that are split between the processes of a
// node are not split between those of two jobs.
func TestXDYN01_LongCollectivesAcross(t *testing.T) {
	serve(t, []int{2, 3}, func(t testing.TB, job int, world, inter *mpi.Comm) {
		merged, err := inter.Merge(job == 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{100, 2 << 10, 5 << 10, 19 << 10, 40 << 10} {
			all := make([]int64, n)
			for root := range merged.Size() {
				if merged.Rank() == root {
					all[0], all[n-1] = int64(n), int64(root)
				}
				if err := mpi.Bcast(merged, all, root); err != nil {
					t.Fatal(err)
				}
				if all[0] != int64(n) || all[n-1] != int64(root) {
					t.Errorf("%d and %d of %d from root %d", all[0], all[n-1], n, root)
				}
			}
			sum := make([]int64, n)
			if err := mpi.Allreduce(merged, all, sum, mpi.Sum); err != nil {
				t.Fatal(err)
			}
			if want := int64(merged.Size()) * int64(n); sum[0] != want {
				t.Errorf("the sum of %d is %d, want %d", n, sum[0], want)
			}
			every := make([]int64, n*merged.Size())
			if err := mpi.Allgather(merged, all, every); err != nil {
				t.Fatal(err)
			}
			if every[n] != int64(n) || every[len(every)-1] != int64(merged.Size()-1) {
				t.Errorf("gathered %d and %d of %d", every[n], every[len(every)-1], n)
			}
		}
		if err := merged.Disconnect(); err != nil {
			t.Error(err)
		}
		if err := inter.Disconnect(); err != nil {
			t.Error(err)
		}
	})
}

// repeated is how often a test repeats something: n times, unless HALO_TEST_ROUNDS says another number.
func repeated(n int) int {
	if many, err := strconv.Atoi(os.Getenv("HALO_TEST_ROUNDS")); err == nil {
		return many
	}
	return n
}

// X-DYN-01: two jobs connect and disconnect again and again.
func TestXDYN01_Rounds(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := make(chan string, 1)
			mpitest.JobsOn(t, fabric, []int{2, 1}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				for i := range repeated(30) {
					inter, err := meet(ctx, names, job == i%2, world, 0)
					if err != nil {
						t.Fatal(err)
					}
					if err := inter.Barrier(); err != nil {
						t.Fatal(err)
					}
					if err := inter.Disconnect(); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// X-DYN-01: Finalize waits for processes that are still connected; they may have freed the communicator.
func TestXDYN01_FinalizeWithoutDisconnect(t *testing.T) {
	serve(t, []int{2, 2}, func(t testing.TB, job int, world, inter *mpi.Comm) {
		if job == 0 {
			if err := inter.Free(); err != nil {
				t.Error(err)
			}
			return
		}
		if err := inter.Free(); err != nil {
			t.Error(err)
		}
	})
}

// X-DYN-01: a goroutine of each job connects on a communicator of its own, while others do.
func TestXDYN01_ManyAtOnce(t *testing.T) {
	const threads, rounds = 4, 5
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			var names [threads]chan string
			for i := range names {
				names[i] = make(chan string, 1)
			}
			mpitest.JobsOn(t, fabric, []int{1, 2}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				var comms [threads]*mpi.Comm
				for i := range comms {
					var err error
					comms[i], err = world.Dup()
					if err != nil {
						t.Fatal(err)
					}
				}
				var all sync.WaitGroup
				for i, c := range comms {
					all.Go(func() {
						for range rounds {
							inter, err := meet(ctx, names[i], job == 0, c, 0)
							if err != nil {
								t.Error(err)
								return
							}
							if err := inter.Barrier(); err != nil {
								t.Error(err)
							}
							if err := inter.Disconnect(); err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
			})
		})
	}
}
