package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// onTwoJobs runs fn in two jobs of those sizes, over each fabric, with the communicator of both, in which the first
// job comes first.
func onTwoJobs(t *testing.T, sizes []int, fn func(t testing.TB, job int, world, all *mpi.Comm)) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) { onTwoJobsOver(t, fabric, sizes, fn) })
	}
}

func onTwoJobsOver(t testing.TB, fabric string, sizes []int, fn func(t testing.TB, job int, world, all *mpi.Comm)) {
	serveOn(t, fabric, sizes, func(t testing.TB, job int, world, inter *mpi.Comm) {
		all, err := inter.Merge(job == 1)
		ok(t, err)
		fn(t, job, world, all)
		ok(t, all.Disconnect())
		ok(t, inter.Disconnect())
	})
}

// sharesAcross reports whether processes of several jobs share memory over a fabric.
func sharesAcross(fabric string) bool { return fabric != "tcp" && !testrun.Race }

// Processes of several jobs on a machine share memory, unless they use sockets only: SplitType groups those that can
// make a shared window, and with others that is an error at all members (X-DYN-01, X-COM-01, X-RMA-01).
func TestXDYN01_XCOM01_SplitsOfSeveralJobs(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		for _, sizes := range [][]int{{1, 1}, {2, 3}} {
			t.Run(fmt.Sprint(fabric, sizes), func(t *testing.T) {
				onTwoJobsOver(t, fabric, sizes, func(t testing.TB, job int, world, all *mpi.Comm) {
					near, err := all.SplitType(mpi.CommTypeShared, 0)
					ok(t, err)
					want := all
					if !sharesAcross(fabric) {
						want, err = world.SplitType(mpi.CommTypeShared, 0)
						ok(t, err)
					}
					if near.Size() != want.Size() || near.Rank() != want.Rank() {
						t.Errorf("rank %d of %d processes that share memory, want %d of %d", near.Rank(), near.Size(), want.Rank(), want.Size())
					}
					for _, hint := range []mpi.WinHint{mpi.SharedNoncontig(false), mpi.SharedNoncontig(true)} {
						w, err := mpi.WinAllocateShared[int64](near, 1+near.Rank(), hint)
						ok(t, err)
						sharedMemory(t, near, w)
						ok(t, w.Free())
						refused(t, second(mpi.WinAllocateShared[int64](near, 1<<58, hint)), mpi.ErrNoMem, "")
						if near.Size() < all.Size() {
							refused(t, second(mpi.WinAllocateShared[int64](all, 1, hint)), mpi.ErrRMAShared, "")
						}
					}
					same, err := all.SplitType(mpi.CommTypeHwGuided, 0, mpi.HwResourceType("hwloc://Machine"))
					ok(t, err)
					if same.Size() != all.Size() || same.Rank() != all.Rank() {
						t.Errorf("rank %d of %d processes of the machine, want %d of %d", same.Rank(), same.Size(), all.Rank(), all.Size())
					}
					ok(t, near.Free())
					ok(t, same.Free())
				})
			})
		}
	}
}

// sharedMemory checks that the members of c load what the others store in a window, of which each has one element
// more than the one before it.
func sharedMemory(t testing.TB, c *mpi.Comm, w mpi.Win[int64]) {
	ok(t, w.LockAll(0))
	for i := range w.Local() {
		w.Local()[i] = int64(100*c.Rank() + i)
	}
	ok(t, w.Sync())
	ok(t, c.Barrier())
	ok(t, w.Sync())
	for r := range c.Size() {
		mem, err := w.Shared(r)
		ok(t, err)
		if len(mem) != r+1 || mem[0] != int64(100*r) || mem[r] != int64(101*r) {
			t.Errorf("the memory of rank %d of %d is %v", r, c.Size(), mem)
		}
	}
	ok(t, c.Barrier())
	next := (c.Rank() + 1) % c.Size()
	mem, err := w.Shared(next)
	ok(t, err)
	mem[next] = int64(-1 - next)
	ok(t, w.Sync())
	ok(t, c.Barrier())
	ok(t, w.Sync())
	if got := w.Local()[c.Rank()]; got != int64(-1-c.Rank()) {
		t.Errorf("the next rank has stored %d", got)
	}
	ok(t, w.UnlockAll())
}

// Members of several jobs open a file together, and access it collectively, by the shared pointer and in atomic
// mode (X-DYN-01, X-IO-01).
func TestXDYN01_XIO01_FilesOfSeveralJobs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	onTwoJobs(t, []int{2, 1}, func(t testing.TB, job int, world, all *mpi.Comm) {
		me, n := all.Rank(), all.Size()
		f, err := mpi.OpenFile(all, path, mpi.ModeCreate|mpi.ModeReadWrite)
		ok(t, err)
		ok(t, f.SetSize(0))
		const each = 3000
		number := mustType[int32](t)
		column, err := mpi.TypeVector(each, 1, n, number)
		ok(t, err)
		ok(t, column.Commit())
		ok(t, f.SetView(int64(4*me), number, column, "native"))
		mine := make([]int32, each)
		for i := range mine {
			mine[i] = int32(i*n + me)
		}
		ok(t, second(mpi.WriteAll(f, mine)))
		ok(t, f.SetView(0, number, number, "native"))
		got := make([]int32, each*n)
		ok(t, second(mpi.ReadAtAll(f, 0, got)))
		for i, v := range got {
			if v != int32(i) {
				t.Fatalf("element %d of the file is %d", i, v)
			}
		}
		ok(t, second(f.SeekShared(0, mpi.SeekSet)))
		ok(t, second(mpi.WriteOrdered(f, []int32{int32(100 + me)})))
		ok(t, second(mpi.WriteShared(f, []int32{int32(200 + me)})))
		ok(t, all.Barrier())
		ok(t, second(mpi.ReadAtAll(f, 0, got[:2*n])))
		slices.Sort(got[n : 2*n])
		for r := range n {
			if got[r] != int32(100+r) || got[n+r] != int32(200+r) {
				t.Errorf("by the shared pointer %v", got[:2*n])
			}
		}
		ok(t, f.SetAtomicity(true))
		block := slices.Repeat([]int32{int32(me)}, 500)
		ok(t, second(mpi.WriteAt(f, 10, block)))
		ok(t, all.Barrier())
		ok(t, second(mpi.ReadAt(f, 10, block)))
		if slices.Min(block) != slices.Max(block) {
			t.Errorf("writes in atomic mode are mixed: %d and %d", block[0], block[499])
		}
		ok(t, f.Close())
	})
}

// Topologies, neighbours, persistent, nonblocking and partitioned communication between jobs (X-DYN-01).
func TestXDYN01_OperationsOfSeveralJobs(t *testing.T) {
	onTwoJobs(t, []int{2, 2}, func(t testing.TB, job int, world, all *mpi.Comm) {
		me, n := all.Rank(), all.Size()
		left, right := (me+n-1)%n, (me+1)%n
		ring, err := all.CartCreate([]int{n}, []bool{true}, true)
		ok(t, err)
		if ring.Rank() != me {
			t.Fatalf("rank %d in the ring is %d in the communicator of several jobs", ring.Rank(), me)
		}
		around, err := all.DistGraphCreateAdjacent([]int{left}, nil, []int{right}, nil, true)
		ok(t, err)
		in := make([]int32, 2)
		persistent := mpi.NeighborAlltoallInit(ring, []int32{int32(me), int32(me + 10)}, in)
		one := make([]int32, 1)
		for range 2 {
			ok(t, mpi.NeighborAlltoall(ring, []int32{int32(me), int32(me + 10)}, in))
			if in[0] != int32(left+10) || in[1] != int32(right) {
				t.Errorf("rank %d has %v of its neighbours", me, in)
			}
			clear(in)
			ok(t, persistent.Start())
			ok(t, second(persistent.Wait()))
			if in[0] != int32(left+10) || in[1] != int32(right) {
				t.Errorf("rank %d has %v of its neighbours by a persistent request", me, in)
			}
			ok(t, mpi.NeighborAllgather(around, []int32{int32(me)}, one))
			if one[0] != int32(left) {
				t.Errorf("rank %d has %v of the one before it", me, one)
			}
		}
		ok(t, persistent.Free())
		out, total := []int64{int64(me)}, make([]int64, 1)
		sum := mpi.AllreduceInit(all, out, total, mpi.Sum)
		for round := range 3 {
			out[0] = int64(me + round)
			ok(t, sum.Start())
			ok(t, second(sum.Wait()))
			if total[0] != int64(n*(n-1)/2+n*round) {
				t.Errorf("round %d: the sum is %d", round, total[0])
			}
		}
		ok(t, sum.Free())
		if me == n-1 {
			one[0] = 77
		}
		requests := []mpi.Request{mpi.Iallreduce(all, out, total, mpi.Max), mpi.Ibcast(all, one, n-1)}
		ok(t, mpi.Waitall(requests, nil))
		if one[0] != 77 || total[0] != int64(n+1) {
			t.Errorf("rank %d has %d and %d", me, one[0], total[0])
		}
		long, sums := make([]int64, 40_000), make([]int64, 40_000) // longer than what is sent eagerly
		for i := range long {
			long[i] = int64(me + i)
		}
		ok(t, mpi.Allreduce(all, long, sums, mpi.Sum))
		for i, v := range sums {
			if want := int64(n*(n-1)/2 + n*i); v != want {
				t.Fatalf("element %d of a long sum is %d, want %d", i, v, want)
			}
		}
		ok(t, mpi.Bcast(all, long, n-1))
		if long[0] != int64(n-1) {
			t.Errorf("rank %d has %d of rank %d", me, long[0], n-1)
		}
		const parts = 4
		from, to := make([]int64, 4000), make([]int64, 4000)
		r, s := mpi.PrecvInit(all, from, 2, left, 3), mpi.PsendInit(all, to, parts, right, 3)
		for round := range 3 {
			for i := range to {
				to[i] = int64(me + round + i)
			}
			ok(t, r.Start())
			ok(t, s.Start())
			for p := range parts {
				ok(t, s.Pready(parts-1-p))
			}
			ok(t, mpi.Waitall([]mpi.Request{r, s}, nil))
			for i, v := range from {
				if v != int64(left+round+i) {
					t.Fatalf("round %d: element %d is %d", round, i, v)
				}
			}
		}
		ok(t, r.Free())
		ok(t, s.Free())
		ok(t, ring.Free())
		ok(t, around.Free())
	})
}

// Attributes are copied to duplicates of communicators with other jobs, and deleted with them; a merged
// communicator has the error handler of the one of its own group (X-DYN-01, ATT-03, COM-03).
func TestXDYN01_COM03_AttributesAndHandlersOfSeveralJobs(t *testing.T) {
	serve(t, []int{2, 1}, func(t testing.TB, job int, world, inter *mpi.Comm) {
		copies, deleted, told := 0, 0, 0
		k := mpi.CreateKeyval(func(_ *mpi.Comm, v int) (int, bool, error) {
			copies++
			return v + 1, true, nil
		}, func(*mpi.Comm, int) error {
			deleted++
			return nil
		})
		ok(t, mpi.SetAttr(inter, k, job))
		ok(t, inter.SetErrhandler(mpi.CreateCommErrhandler(func(_ *mpi.Comm, err *mpi.Error) { told += 1 + 10*job })))
		dup, err := inter.Dup()
		ok(t, err)
		hasAttr(t, dup, k, job+1)
		all, err := dup.Merge(job == 1)
		ok(t, err)
		hasNoAttr(t, all, k)
		wantClass(t, mpi.Send(all, []byte{1}, 3, 0), mpi.ErrRank)
		if told != 1+10*job {
			t.Errorf("job %d: the handlers were told %d", job, told)
		}
		ok(t, all.Disconnect())
		ok(t, dup.Disconnect())
		ok(t, inter.Disconnect())
		if copies != 1 || deleted != 2 {
			t.Errorf("%d copies, and %d deleted, of 2 communicators", copies, deleted)
		}
		ok(t, k.Free())
	})
}

// beforeDeath returns in the second of two jobs of 2 when all processes have left the collective calls before it.
func beforeDeath(all *mpi.Comm, job int) error {
	for r := 2; r < 4; r++ {
		if err := mpi.Send(all, []byte{1}, r, 2); err != nil {
			return err
		}
	}
	for r := range 4 {
		if job == 1 {
			if _, err := mpi.Recv(all, []byte{0}, r, 2); err != nil {
				return err
			}
		}
	}
	return nil
}

// jobsCall is something that processes of two jobs do together. prepare is done before the second job dies, call
// while it is dead.
type jobsCall struct {
	name    string
	prepare func(all *mpi.Comm, path string) (call func() error, err error)
}

// both is a jobsCall without preparation.
func both(name string, call func(all *mpi.Comm) error) jobsCall {
	return jobsCall{name, func(all *mpi.Comm, _ string) (func() error, error) {
		return func() error { return call(all) }, nil
	}}
}

// used is a barrier of a new communicator: who gives its context need not wait for the others.
func used(c *mpi.Comm, err error) error {
	if err == nil {
		err = c.Barrier()
	}
	return err
}

func jobsCalls() []jobsCall {
	x := []int64{1, 2, 3, 4}
	return []jobsCall{
		both("Dup", func(all *mpi.Comm) error { return used(all.Dup()) }),
		both("Split", func(all *mpi.Comm) error { return used(all.Split(0, 0)) }),
		both("CartCreate", func(all *mpi.Comm) error { return used(all.CartCreate([]int{4}, []bool{true}, false)) }),
		both("WinAllocate", func(all *mpi.Comm) error { _, err := mpi.WinAllocate[int](all, 1); return err }),
		both("Iallreduce", func(all *mpi.Comm) error {
			r := mpi.Iallreduce(all, x, make([]int64, 4), mpi.Sum)
			_, err := r.Wait()
			return err
		}),
		{"OpenFile", func(all *mpi.Comm, path string) (func() error, error) {
			return func() error {
				_, err := mpi.OpenFile(all, path, mpi.ModeCreate|mpi.ModeReadWrite)
				return err
			}, nil
		}},
		{"WriteAtAll", func(all *mpi.Comm, path string) (func() error, error) {
			f, err := mpi.OpenFile(all, path, mpi.ModeCreate|mpi.ModeReadWrite)
			return func() error { return second(mpi.WriteAtAll(f, int64(32*all.Rank()), x)) }, err
		}},
		{"Close", func(all *mpi.Comm, path string) (func() error, error) {
			f, err := mpi.OpenFile(all, path, mpi.ModeCreate|mpi.ModeReadWrite)
			return func() error { return f.Close() }, err
		}},
		{"NeighborAlltoall", func(all *mpi.Comm, _ string) (func() error, error) {
			ring, err := all.CartCreate([]int{4}, []bool{true}, false)
			return func() error { return mpi.NeighborAlltoall(ring, x, make([]int64, 4)) }, err
		}},
		{"AllreduceInit", func(all *mpi.Comm, _ string) (func() error, error) {
			r := mpi.AllreduceInit(all, x, make([]int64, 4), mpi.Sum)
			return func() error { return errors.Join(r.Start(), second(r.Wait())) }, nil
		}},
		{"PrecvInit", func(all *mpi.Comm, _ string) (func() error, error) {
			peer := (all.Rank() + 2) % 4
			r, s := mpi.PrecvInit(all, make([]int64, 4), 2, peer, 1), mpi.PsendInit(all, x, 2, peer, 1)
			return func() error {
				return errors.Join(r.Start(), s.Start(), s.PreadyRange(0, 1), second(s.Wait()), second(r.Wait()))
			}, nil
		}},
		{"Fence", func(all *mpi.Comm, _ string) (func() error, error) {
			w, err := mpi.WinAllocate[int](all, 1)
			return func() error { return w.Fence(0) }, err
		}},
		{"Complete", func(all *mpi.Comm, _ string) (func() error, error) {
			w, err := mpi.WinAllocate[int64](all, 4)
			if err != nil {
				return nil, err
			}
			g, err := all.Group()
			return func() error {
				return errors.Join(w.Post(g, 0), w.Start(g, 0), w.Put(x, (all.Rank()+2)%4, 0), w.Complete(), w.Wait())
			}, err
		}},
		{"Flush", func(all *mpi.Comm, _ string) (func() error, error) {
			w, err := mpi.WinAllocate[int64](all, 4)
			return func() error {
				peer := (all.Rank() + 2) % 4
				return errors.Join(w.LockAll(0), w.Put(x, peer, 0), w.Flush(peer), w.UnlockAll(), all.Barrier()) // it may have died after the put
			}, err
		}},
	}
}

// When the processes of the other job have died, each call that needs them fails at all others with ErrProcFailed, and none
// waits for ever; the own job can go on (X-DYN-01, ERR-15).
func TestXDYN01_ERR15_DeathInEachCall(t *testing.T) {
	died := errors.New("the process has died")
	dir := t.TempDir()
	for _, fabric := range mpitest.Fabrics() {
		for i, c := range jobsCalls() {
			t.Run(c.name+"-"+fabric, func(t *testing.T) {
				names := make(chan string, 1)
				path := filepath.Join(dir, fmt.Sprint(fabric, i))
				err := mpitest.RunJobs(fabric, []int{2, 2}, func(ctx context.Context, job int, world *mpi.Comm) error {
					j := join(t, ctx, names, world, job == 0, job == 1)
					call, err := jobsCalls()[i].prepare(j.all, path)
					if err != nil {
						return err
					}
					if err := beforeDeath(j.all, job); err != nil {
						return err
					}
					if job == 1 {
						return died
					}
					wantClass(t, call(), mpi.ErrProcFailed)
					ok(t, world.Barrier())
					ok(t, j.all.Disconnect())
					return j.inter.Disconnect()
				})
				if !errors.Is(err, died) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}
