package mpi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A window that several jobs have allocated is mapped between them, and all kinds of operations and epochs of both
// jobs meet in it (X-DYN-01, X-RMA-01).
func TestXDYN01_XRMA01_WindowsOfSeveralJobs(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			onTwoJobsOver(t, fabric, []int{2, 2}, func(t testing.TB, job int, world, all *mpi.Comm) {
				me, n := all.Rank(), all.Size()
				w, err := mpi.WinAllocate[int64](all, 4*n)
				ok(t, err)
				for r := range n {
					mem, err := w.Shared(r)
					ok(t, err)
					near := r/2 == job && fabric != "tcp" || r == me
					if want := near || sharesAcross(fabric); (mem != nil) != want {
						t.Errorf("the memory of rank %d is %v at rank %d, want it mapped: %t", r, mem, me, want)
					}
				}
				ok(t, w.Fence(0))
				for r := range n {
					ok(t, w.Put([]int64{int64(10*r + me)}, r, me))
				}
				ok(t, w.Fence(0))
				for r := range n {
					if got := w.Local()[r]; got != int64(10*me+r) {
						t.Errorf("rank %d has put %d", r, got)
					}
				}
				ok(t, w.Fence(mpi.ModeNoSucceed))
				for range 20 { // a sum by get and put at each rank, under its lock
					for r := range n {
						got := []int64{0}
						ok(t, w.Lock(mpi.LockExclusive, r, 0))
						ok(t, w.Get(got, r, n))
						ok(t, w.Flush(r))
						got[0]++
						ok(t, w.Put(got, r, n))
						ok(t, w.Unlock(r))
					}
				}
				ok(t, all.Barrier())
				ok(t, w.LockAll(0))
				for r := range n {
					for range 20 {
						ok(t, w.Accumulate([]int64{1, 2}, r, n+1, mpi.Sum))
					}
				}
				ok(t, w.FlushAll())
				ok(t, all.Barrier())
				for r := range n {
					got := make([]int64, 3)
					ok(t, w.Get(got, r, n))
					ok(t, w.Flush(r))
					if got[0] != int64(20*n) || got[1] != int64(20*n) || got[2] != int64(40*n) {
						t.Errorf("the sums at rank %d are %v", r, got)
					}
				}
				ok(t, w.UnlockAll())
				group, err := all.Group()
				ok(t, err)
				ok(t, w.Post(group, 0))
				ok(t, w.Start(group, 0))
				for r := range n {
					ok(t, w.Put([]int64{int64(1000 + me)}, r, 2*n+me))
				}
				ok(t, w.Complete())
				ok(t, w.Wait())
				for r := range n {
					if got := w.Local()[2*n+r]; got != int64(1000+r) {
						t.Errorf("rank %d has put %d in its epoch", r, got)
					}
				}
				ok(t, w.Free())
			})
		})
	}
}

// The newcomers of such a window use it by frames, and it goes on without those that leave (X-DYN-01, SYN-35).
func TestXDYN01_SYN35_MembersOfMappedWindowsChange(t *testing.T) {
	onTwoJobs(t, []int{2, 1}, func(t testing.TB, job int, world, all *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](all, 3)
		ok(t, err)
		var home *mpi.Comm
		if job == 0 {
			home = world
		}
		left, err := mpi.WinChangeComm(w.Window, home, 0)
		ok(t, err)
		if (left == nil) != (job == 1) {
			t.Fatalf("the window of job %d is %v", job, left)
		}
		back, err := mpi.WinChangeComm(left, all, 0)
		ok(t, err)
		w = mpi.Win[int64]{Window: back}
		ok(t, w.Fence(0))
		if all.Rank() == 2 {
			ok(t, w.Put([]int64{5}, 0, 1))
			ok(t, w.Put([]int64{6}, 1, 2))
		}
		ok(t, w.Fence(0))
		if got := w.Local(); all.Rank() < 2 && got[1+all.Rank()] != int64(5+all.Rank()) {
			t.Errorf("the newcomer has put into %v", got)
		}
		ok(t, w.Free())
	})
}

// blocksMapped is how many segments of windows of several jobs this process has mapped.
func blocksMapped() int {
	b, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(b), "halo-block")
}

// A hundred rounds of windows of two jobs leave no mapping and no descriptor (X-DYN-01, X-RMA-01).
func TestXDYN01_XRMA01_RoundsOfWindows(t *testing.T) {
	files := func() int {
		list, _ := os.ReadDir("/proc/self/fd")
		return len(list)
	}
	there := blocksMapped() // by processes of other tests, which have died
	onTwoJobs(t, []int{1, 1}, func(t testing.TB, job int, world, all *mpi.Comm) {
		before := 0
		for i := range 100 {
			w, err := mpi.WinAllocate[int64](all, 100)
			ok(t, err)
			ok(t, w.Free())
			if i == 0 {
				before = files()
			}
		}
		ok(t, all.Barrier())
		if n := files(); n > before+2 { // the other job is in the same process
			t.Errorf("%d descriptors after 100 windows, %d after the first", n, before)
		}
		if n := blocksMapped(); n > there {
			t.Errorf("%d segments of windows are mapped after 100 windows, %d before", n, there)
		}
		ok(t, all.Barrier())
	})
}
