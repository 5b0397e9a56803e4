package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// rivals are collective calls in which rank 0 waits for the others.
func rivals() []struct {
	name string
	call func(c *mpi.Comm) error
} {
	sum := func(c *mpi.Comm, n int) error {
		in, out := make([]int64, n), make([]int64, n)
		for i := range in {
			in[i] = int64(i + c.Rank())
		}
		if err := mpi.Allreduce(c, in, out, mpi.Sum); err != nil {
			return err
		}
		for i := range out {
			if want := int64(c.Size()*i + c.Size()*(c.Size()-1)/2); out[i] != want {
				return fmt.Errorf("element %d of the sum is %d, want %d", i, out[i], want)
			}
		}
		return nil
	}
	one := func(c *mpi.Comm, buf []int32) error {
		if c.Rank() == 1 {
			buf[0] = 4711
		}
		if err := mpi.Bcast(c, buf, 1); err != nil {
			return err
		}
		if buf[0] != 4711 {
			return fmt.Errorf("rank 1 has sent 4711, here is %d", buf[0])
		}
		return nil
	}
	return []struct {
		name string
		call func(c *mpi.Comm) error
	}{
		{"Barrier", (*mpi.Comm).Barrier},
		{"Bcast", func(c *mpi.Comm) error { return one(c, make([]int32, 1)) }},
		{"Allreduce", func(c *mpi.Comm) error { return sum(c, 1) }},
		{"Allreduce", func(c *mpi.Comm) error { return sum(c, 20_000) }},
		{"Reduce", func(c *mpi.Comm) error { return mpi.Reduce(c, []int32{1}, make([]int32, 1), mpi.Sum, 0) }},
		{"Allgather", func(c *mpi.Comm) error { return mpi.Allgather(c, []int8{1}, make([]int8, c.Size())) }},
		{"Alltoall", func(c *mpi.Comm) error { return mpi.Alltoall(c, make([]int8, c.Size()), make([]int8, c.Size())) }},
		{"Gather", func(c *mpi.Comm) error { return mpi.Gather(c, []int8{1}, make([]int8, c.Size()), 0) }},
		{"Bcast", func(c *mpi.Comm) error {
			return c.Bcast(mpi.Buf(make([]struct {
				A int64
				B int8
			}, 2)), 1)
		}},
		{"Split", func(c *mpi.Comm) error {
			d, err := c.Split(0, 0)
			if err == nil {
				err = d.Free()
			}
			return err
		}},
	}
}

// 6.14: if two goroutines are in collectives on one communicator at the same time, one of them
// gets an error that names both calls. The other call completes correctly, and the communicator
// remains usable.
func TestSection6_14_TwoGoroutinesInCollectives(t *testing.T) {
	for _, n := range []int{2, 3} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			list := rivals()
			for i := range list {
				clashing(t, c, i, (5*i+3)%len(list))
				clashing(t, c, i, i)
			}
		})
	}
}

// clashing makes two goroutines of rank 0 call i and k. The other ranks make no call before one
// of the two has failed.
func clashing(t testing.TB, c *mpi.Comm, i, k int) {
	const tag = 5
	list, pair := rivals(), [2]int{i, k}
	if c.Rank() > 0 {
		winner := make([]int32, 1)
		if _, err := mpi.Recv(c, winner, 0, tag); err != nil {
			t.Fatal(err)
		}
		if err := list[winner[0]].call(c); err != nil {
			t.Fatal(err)
		}
		return
	}
	var wg sync.WaitGroup
	var errs [2]error
	lost := make(chan int, 2)
	for g := range pair {
		wg.Go(func() {
			errs[g] = list[pair[g]].call(c)
			lost <- g
		})
	}
	loser := <-lost
	for r := 1; r < c.Size(); r++ {
		if err := mpi.Send(c, []int32{int32(pair[1-loser])}, r, tag); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if errs[1-loser] != nil {
		t.Errorf("%s beside %s: %v", list[pair[1-loser]].name, list[pair[loser]].name, errs[1-loser])
	}
	want := fmt.Sprintf("two goroutines are in collectives on world at once (%s and %s); give each a Dup", list[pair[loser]].name, list[pair[1-loser]].name)
	if err := errs[loser]; !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, not: %s", err, want)
	}
}

// 6.14: with any number of goroutines in collectives on one communicator, each call either is
// refused or has the correct result.
func TestSection6_14_CrowdInCollectives(t *testing.T) {
	const goroutines, all = 3, 1 << 20
	times := 60
	if testrun.Race {
		times = 15
	}
	sum := func(c *mpi.Comm, n int, ends int64) (least int64, err error) {
		in, out := make([]int64, n), make([]int64, n)
		for i := range in {
			in[i] = all + 1
		}
		in[0] = all + ends // n*all, and the number of goroutines that have finished
		err = mpi.Allreduce(c, in, out, mpi.Sum)
		if err == nil && (out[0]/all != int64(c.Size()) || n > 1 && out[n-1] != int64(c.Size())*(all+1)) {
			err = fmt.Errorf("wrong sums %d and %d", out[0], out[n-1])
		}
		return out[0] % all, err
	}
	for _, n := range []int{1, 2, 3} {
		for _, elements := range []int{1, 3000} {
			mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
				var wg sync.WaitGroup
				for range goroutines {
					wg.Go(func() {
						for range times {
							if _, err := sum(c, elements, 0); err != nil && !errors.Is(err, mpi.ErrOther) {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
				for { // until all ranks are here and each of their calls has met enough others
					ends, err := sum(c, elements, 1)
					if err != nil {
						t.Fatal(err)
					}
					if ends == int64(c.Size()) {
						return
					}
				}
			})
		}
	}
}

// 6.14: nonblocking collectives that have been started do not interfere with blocking ones.
func TestSection6_14_StartedOnesAreBeside(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		var requests []mpi.Request
		for range 4 {
			requests = append(requests, c.Ibarrier(), mpi.Iallreduce(c, []int32{1}, make([]int32, 1), mpi.Sum))
		}
		persistent := c.BarrierInit()
		if err := persistent.Start(); err != nil {
			t.Fatal(err)
		}
		if err := c.Barrier(); err != nil {
			t.Error(err)
		}
		d, request := c.Idup()
		if err := c.Barrier(); err != nil {
			t.Error(err)
		}
		if err := mpi.Waitall(append(requests, persistent, request), nil); err != nil {
			t.Error(err)
		}
		if err := persistent.Free(); err != nil {
			t.Error(err)
		}
		if err := d.Free(); err != nil {
			t.Error(err)
		}
	})
}

// 7.4.3, 6.14: a communicator cannot be freed while a goroutine is in a collective on it.
func TestSection6_14_FreeBesideABarrier(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		d, err := c.Dup()
		if err != nil {
			t.Fatal(err)
		}
		d.SetName("twin")
		beside(t, c, "Barrier and Barrier", d.Barrier, func() {
			want := "two goroutines are in collectives on twin at once (Free and Barrier)"
			if err := d.Free(); !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), want) {
				t.Errorf("Free beside a Barrier: %v", err)
			}
		})
		if err := d.Free(); err != nil {
			t.Error(err)
		}
	})
}

// entered makes two goroutines call a collective that no other member calls yet. It returns when
// one of the two has been refused, so that the other is in the collective; end is the other's
// result. calls is the text in the error.
func entered(t testing.TB, calls string, call func() error) (end <-chan error) {
	t.Helper()
	ends := make(chan error, 2)
	for range 2 {
		go func() { ends <- call() }()
	}
	if err := <-ends; !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), "at once ("+calls+")") {
		t.Errorf("the second call: %v; want %s", err, calls)
	}
	return ends
}

// beside makes rank 0 call meanwhile while one of its goroutines is in a collective call, which
// rank 1 makes later. calls is the text in the error of a second goroutine in the call.
func beside(t testing.TB, c *mpi.Comm, calls string, call func() error, meanwhile func()) {
	t.Helper()
	if c.Rank() == 0 {
		end := entered(t, calls, call)
		meanwhile()
		ok(t, mpi.Send(c, []int8{1}, 1, 1))
		ok(t, <-end)
		return
	}
	_, err := mpi.Recv(c, make([]int8, 1), 0, 1)
	ok(t, err)
	ok(t, call())
}

// 6.14, 7.7.2: a Free that is refused because a goroutine is in a collective deletes no
// attributes.
func TestSection6_14_RefusedFreeKeepsAttributes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		d, err := c.Dup()
		ok(t, err)
		deleted := 0
		key := mpi.CreateKeyval(nil, func(*mpi.Comm, int) error { deleted++; return nil })
		ok(t, mpi.SetAttr(d, key, 1))
		beside(t, c, "Barrier and Barrier", d.Barrier, func() {
			if err := d.Free(); !errors.Is(err, mpi.ErrOther) || deleted != 0 {
				t.Errorf("Free beside a Barrier: %v, %d attributes deleted", err, deleted)
			}
		})
		if err := d.Free(); err != nil || deleted != 1 {
			t.Errorf("then %v, %d attributes deleted", err, deleted)
		}
	})
}

// 6.14, 12.2.5: a Free of a window that is refused because a goroutine is in another Free does
// nothing: the window exists until the other Free has freed it.
func TestSection6_14_RefusedFreeKeepsTheWindow(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		beside(t, c, "Free and Free", w.Free, func() {
			if err := w.SetName("still there"); err != nil {
				t.Errorf("after a Free that was refused: %v", err)
			}
		})
		wantClass(t, w.SetName("gone"), mpi.ErrWin)
	})
}

// 6.14, 11.2.2: a Finalize that is refused because a goroutine is in a collective on the world
// deletes no attributes of self.
func TestSection6_14_RefusedFinalizeKeepsAttributes(t *testing.T) {
	deleted := 0
	err := mpi.Run(2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return nil
		}
		key := mpi.CreateKeyval(nil, func(*mpi.Comm, int) error { deleted++; return nil })
		ok(t, mpi.SetAttr(c.Self(), key, 1))
		entered(t, "Barrier and Barrier", c.Barrier)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "two goroutines are in collectives on world at once (Finalize and Barrier)") || deleted != 0 {
		t.Errorf("%v, %d attributes deleted", err, deleted)
	}
}
