package mpi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// joined is a communicator of two jobs, of which those of the first or the second come first, and the
// intercommunicator that it was merged from.
type joined struct{ inter, all *mpi.Comm }

// join connects world with the other job.
func join(t testing.TB, ctx context.Context, names chan string, world *mpi.Comm, accepts, high bool) joined {
	t.Helper()
	inter, err := meet(ctx, names, accepts, world, 0)
	ok(t, err)
	all, err := inter.Merge(high)
	ok(t, err)
	return joined{inter, all}
}

func (j joined) part(t testing.TB) {
	t.Helper()
	ok(t, j.all.Disconnect())
	ok(t, j.inter.Disconnect())
}

// notified has every member notify every other one that has memory, of a put and by a synchronisation object.
func (m *member) notified(t testing.TB, c *mpi.Comm) {
	t.Helper()
	n, me := c.Size(), c.Rank()
	size := int64(0)
	if m.mem != nil {
		size = 1
	}
	sizes, err := mpi.AllgatherOne(c, size)
	ok(t, err)
	ok(t, m.win.NotifySetNum(2))
	ok(t, c.Barrier())
	all := syncs(t, c, m.win)
	come := startedSync(t, m.win.SyncObjectInit(all[me], n))
	ok(t, m.win.LockAll(0))
	for r := range n {
		if sizes[r] > 0 {
			ok(t, (mpi.Win[int64]{Window: m.win}).PutNotify([]int64{int64(500 + me)}, r, me, 1))
		}
		ok(t, m.win.Signal(r, mpi.ModeWinPut, all[r]))
	}
	if m.mem != nil {
		ok(t, m.win.WaitNotify(1, n))
	}
	ended(t, come)
	for r := range n {
		if m.mem != nil && m.mem[r] != int64(500+r) {
			t.Errorf("rank %d has %d from rank %d, want %d", me, m.mem[r], r, 500+r)
		}
	}
	ok(t, m.win.UnlockAll())
	ok(t, m.win.FreeSyncObjects(all[me:me+1]))
	ok(t, c.Barrier())
}

// A window takes the processes of another job in, which access it and are accessed in epochs of every kind, and
// notify; it loses them before the jobs disconnect; and again, in another order of ranks, with processes that it has
// not known before (SYN-35, EX-05, E0-21).
func TestSYN35_EX05_WindowsTakeOtherJobsIn(t *testing.T) {
	for _, flavor := range []mpi.WinFlavor{mpi.WinFlavorCreate, mpi.WinFlavorAllocate, mpi.WinFlavorDynamic} {
		for _, fabric := range mpitest.Fabrics() {
			t.Run(fabric, func(t *testing.T) {
				names := make(chan string, 1)
				mpitest.JobsOn(t, fabric, []int{2, 2}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
					m := &member{}
					var err error
					if job == 0 {
						switch flavor {
						case mpi.WinFlavorCreate:
							m.mem = make([]int64, 4)
							w, failed := mpi.WinCreate(world, m.mem)
							m.win, err = w.Window, failed
						case mpi.WinFlavorAllocate:
							w, failed := mpi.WinAllocate[int64](world, 4)
							m.win, m.mem, err = w.Window, w.Local(), failed
						case mpi.WinFlavorDynamic:
							m.win, err = world.WinCreateDynamic()
							m.mem = make([]int64, 4)
							ok(t, mpi.Attach(m.win, m.mem))
						}
						ok(t, err)
					}
					for round := range 3 {
						j := join(t, ctx, names, world, job == 0, (job+round)%2 == 1)
						first := 2 * (round % 2) // rank of the first process of the first job
						if round == 0 {          // a duplicate of one member is an error at all, newcomers included
							var dup mpi.Win[int64]
							if job == 0 && world.Rank() == 1 {
								dup, err = (mpi.Win[int64]{Window: m.win}).Dup()
								ok(t, err)
							}
							refused(t, second(mpi.WinChangeComm(m.win, j.all, first)), mpi.ErrWin, "")
							if dup.Window != nil {
								ok(t, dup.Free())
							}
						}
						switch {
						case job == 1 && flavor == mpi.WinFlavorCreate:
							m.mem = make([]int64, 4)
							m.win, err = mpi.WinChangeCommMemory(j.all, first, asBytes(m.mem), 8)
						default:
							m.win, err = mpi.WinChangeComm(m.win, j.all, first+round%2)
						}
						ok(t, err)
						if job == 1 && flavor == mpi.WinFlavorDynamic {
							m.mem = make([]int64, 4)
							ok(t, mpi.Attach(m.win, m.mem))
						}
						m.exchange(t, j.all)
						if flavor != mpi.WinFlavorDynamic {
							m.notified(t, j.all)
						}
						if job == 0 {
							m.win, err = mpi.WinChangeComm(m.win, world, 1)
							ok(t, err)
							m.exchange(t, world)
						} else {
							m.win, err = mpi.WinChangeComm(m.win, nil, 0)
							ok(t, err)
							if m.win != nil {
								t.Fatal("who has left has a window")
							}
							m.mem = nil
						}
						j.part(t)
					}
					if job == 0 {
						ok(t, m.win.Free())
					}
				})
			})
		}
	}
}

// Synchronisation objects of a window belong to a process, of whichever job: those that were made before processes of
// another job came are valid for these, and an object of one process is not one of the other job's process with
// the same index (SYN-05, SYN-35, E0-21).
func TestSYN35_ObjectsAcrossJobs(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := make(chan string, 1)
			mpitest.JobsOn(t, fabric, []int{2, 2}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				var w *mpi.Window
				mine := make([]mpi.Sync, 1)
				if job == 0 {
					a, err := mpi.WinAllocate[int64](world, 4)
					ok(t, err)
					w = a.Window
					mine, err = w.AllocSyncObjects(1, nil)
					ok(t, err)
				}
				j := join(t, ctx, names, world, job == 0, job == 1)
				me := j.all.Rank() // job 0 has ranks 0 and 1
				w, err := mpi.WinChangeComm(w, j.all, 1)
				ok(t, err)
				if job == 1 {
					mine, err = w.AllocSyncObjects(1, nil)
					ok(t, err)
				}
				all := make([]mpi.Sync, 4)
				ok(t, mpi.Allgather(j.all, mine, all))
				come := startedSync(t, w.SyncObjectInit(mine[0], 3))
				twin := (me + 2) % 4 // of the other job, with the same index
				refused(t, unstarted(w.SyncOpsInit(twin, 0, all[me])), mpi.ErrRank, "is that of rank "+string(rune('0'+me)))
				refused(t, unstarted(w.SyncObjectInit(all[twin], 1)), mpi.ErrArg, "is that of rank "+string(rune('0'+twin))+": only its own process")
				ok(t, w.LockAll(0))
				for r := range 4 {
					if r != me {
						if r < 2 {
							ok(t, w.Untyped().Put(mpi.Buf([]int64{int64(me)}), r, int64(me), 1, mustType[int64](t)))
						}
						ok(t, w.Signal(r, mpi.ModeWinAll, all[r]))
					}
				}
				ok(t, w.UnlockAll())
				ended(t, come)
				if job == 0 {
					mem := (mpi.Win[int64]{Window: w}).Local()
					for r := range 4 {
						if r != me && mem[r] != int64(r) {
							t.Errorf("rank %d has %v", me, mem)
						}
					}
				}
				ok(t, j.all.Barrier())
				before := w.SyncOpsInit(twin, 0, all[twin])
				if job == 0 {
					w, err = mpi.WinChangeComm(w, world, 0)
					ok(t, err)
					ok(t, before.Start())
					refused(t, second(before.Wait()), mpi.ErrRank, "has left the window")
					refused(t, unstarted(w.SyncOpsInit(0, 0, all[twin])), mpi.ErrRank, "that of a process outside of the window")
					ok(t, w.Free())
				} else {
					ok(t, before.Free())
					ok(t, second(mpi.WinChangeComm(w, nil, 0)))
				}
				j.part(t)
			})
		})
	}
}

// A memory handle names memory of a process of whichever job of the window (QV-27, QV-30).
func TestQV27_HandlesAcrossJobs(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		serveOn(t, fabric, []int{2, 2}, func(t testing.TB, job int, world, inter *mpi.Comm) {
			all, err := inter.Merge(job == 1)
			ok(t, err)
			parent, err := all.WinCreateDynamic()
			ok(t, err)
			me, n := all.Rank(), all.Size()
			mem, next, twin := make([]int64, 3), (me+1)%n, (me+2)%n
			own, err := mpi.MemhandleCreate(parent, mem, nil)
			ok(t, err)
			handle := make([]byte, mpi.MaxMemoryHandleSize)
			ok(t, second(mpi.Sendrecv(all, own, (me+n-1)%n, 0, handle, next, 0)))
			w, err := mpi.WinFromMemhandle[int64](parent, handle, next)
			ok(t, err)
			refused(t, second(mpi.WinFromMemhandle[int64](parent, own, twin)), mpi.ErrRank, "is of rank "+string(rune('0'+me)))
			refused(t, parent.MemhandleRelease(handle), mpi.ErrRank, "is of rank "+string(rune('0'+next)))
			ok(t, parent.LockAll(0))
			ok(t, w.Put([]int64{int64(me) + 10}, next, 1))
			ok(t, w.Accumulate([]int64{5}, next, 2, mpi.Sum))
			ok(t, w.Flush(next))
			ok(t, all.Barrier())
			ok(t, parent.Sync())
			if mem[1] != int64((me+n-1)%n)+10 || mem[2] != 5 {
				t.Errorf("rank %d has %v", me, mem)
			}
			ok(t, parent.UnlockAll())
			ok(t, w.Free())
			ok(t, all.Barrier())
			ok(t, parent.MemhandleRelease(own))
			ok(t, parent.Free())
			ok(t, all.Disconnect())
			ok(t, inter.Disconnect())
		})
	}
}

// If the processes of another job die that a window has taken in, the calls of those that are left fail, and none
// of them waits for ever; their own job goes on (SYN-35, ERR-15).
func TestSYN35_ERR15_DeathOfThoseTakenIn(t *testing.T) {
	died := errors.New("the process has died")
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := make(chan string, 1)
			err := mpitest.RunJobs(fabric, []int{2, 2}, func(ctx context.Context, job int, world *mpi.Comm) error {
				var w *mpi.Window
				var err error
				mem := make([]int64, 4)
				if job == 0 {
					a, failed := mpi.WinCreate(world, mem)
					if failed != nil {
						return failed
					}
					w = a.Window
				}
				j := join(t, ctx, names, world, job == 0, job == 1)
				if job == 0 {
					w, err = mpi.WinChangeComm(w, j.all, 0)
				} else {
					w, err = mpi.WinChangeCommMemory(j.all, 0, asBytes(mem), 8)
				}
				if err != nil {
					return err
				}
				me := j.all.Rank()
				if job == 1 {
					if err := w.Lock(mpi.LockExclusive, me-2, 0); err != nil { // it dies with the lock
						return err
					}
					if err := beforeDeath(j.all, job); err != nil {
						return err
					}
					return died
				}
				if err := beforeDeath(j.all, job); err != nil {
					return err
				}
				if err := w.Lock(mpi.LockExclusive, me, 0); err == nil {
					err = w.Unlock(me)
					ok(t, err)
				} else {
					wantClass(t, err, mpi.ErrProcFailed)
				}
				err = w.Lock(mpi.LockShared, me+2, 0)
				if err == nil {
					err = w.Untyped().Put(mpi.Buf([]int64{1}), me+2, 0, 1, mustType[int64](t))
					err = errors.Join(err, w.Unlock(me+2))
				}
				if err != nil { // else it has died after that
					wantClass(t, err, mpi.ErrProcFailed)
				}
				got, err := mpi.WinChangeComm(w, world, 0)
				wantClass(t, err, mpi.ErrProcFailed)
				if got != w {
					t.Error("a window comes with the error, or none")
				}
				wantClass(t, w.Free(), mpi.ErrProcFailed)
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

// When processes of another job have died in a window and been forgotten, those of a third job, which get their numbers, lock
// and are locked like any others (SYN-35, X-DYN-01).
func TestXDYN01_SYN35_AfterTheDead(t *testing.T) {
	died := errors.New("the process has died")
	ctx := context.Background() // that of the run ends with the job that dies
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := [2]chan string{make(chan string, 1), make(chan string, 1)}
			err := mpitest.RunJobs(fabric, []int{1, 1, 1}, func(_ context.Context, job int, world *mpi.Comm) error {
				for round, names := range names {
					if job != 0 && job != 1+round {
						continue
					}
					j := join(t, ctx, names, world, job == 0, job != 0)
					mem := make([]int64, 2)
					w, err := mpi.WinCreate(j.all, mem)
					if err != nil {
						return err
					}
					me := j.all.Rank()
					if job == 1 {
						if _, err := mpi.Recv(j.all, []byte{0}, 0, 1); err != nil {
							return err
						}
						return died
					}
					if round == 0 {
						ok(t, mpi.Send(j.all, []byte{1}, 1, 1))
						err := w.Lock(mpi.LockExclusive, 1, 0)
						if err == nil {
							err = errors.Join(w.Flush(1), w.Unlock(1))
						}
						if err == nil { // it has died after that
							err = j.all.Barrier()
						}
						wantClass(t, err, mpi.ErrProcFailed)
						wantClass(t, w.Free(), mpi.ErrProcFailed)
					} else {
						for target := range 2 {
							ok(t, w.Lock(mpi.LockExclusive, target, 0))
							ok(t, w.Put([]int64{int64(me + 1)}, target, me))
							ok(t, w.Unlock(target))
						}
						ok(t, j.all.Barrier())
						ok(t, w.Lock(mpi.LockShared, me, 0))
						if mem[0] != 1 || mem[1] != 2 {
							t.Errorf("rank %d has %v", me, mem)
						}
						ok(t, w.Unlock(me))
						ok(t, w.Free())
					}
					j.part(t)
				}
				return nil
			})
			if !errors.Is(err, died) {
				t.Errorf("%v", err)
			}
		})
	}
}
