package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// longGet is a number of elements that a target sends in several steps.
const longGet = 1 << 18

// uniform returns the value that all elements have, or fails.
func uniform(t testing.TB, got []int64) int64 {
	for i, v := range got {
		if v != got[0] {
			t.Fatalf("element %d of a get is %d, and the first %d: the target has gone on before it was answered", i, v, got[0])
		}
	}
	return got[0]
}

func fillAll(mem []int64, v int64) {
	for i := range mem {
		mem[i] = v
	}
}

// RS-02: a rank that returns from Wait may change the memory: all gets of the epoch have read
// it, however long they are.
func TestRS02_WaitComesAfterLongGets(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		mem := make([]int64, longGet)
		win, err := mpi.WinCreate(c, mem)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := win.Group()
		target, _ := all.Incl([]int{0})
		origins, _ := all.Incl([]int{1, 2})
		got := make([]int64, longGet)
		for turn := range int64(20) {
			if c.Rank() == 0 {
				fillAll(mem, turn)
				ok(t, win.Post(origins, 0))
				ok(t, win.Wait())
				fillAll(mem, -1)
				ok(t, win.Post(origins, 0))
				ok(t, win.Wait())
				continue
			}
			ok(t, win.Start(target, 0))
			ok(t, win.Get(got, 0, 0))
			ok(t, win.Complete())
			ok(t, win.Start(target, 0)) // does not wait, since there are no operations
			ok(t, win.Complete())
			if v := uniform(t, got); v != turn {
				t.Fatalf("a get in epoch %d has found what was stored after it: %d", turn, v)
			}
		}
		ok(t, win.Free())
	})
}

// RS-03: a rank that gets a lock may change the memory: all gets of the previous holder have
// read it, however long they are.
func TestRS03_LocksComeAfterLongGets(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		win, err := mpi.WinCreate(c, make([]int64, longGet))
		if err != nil {
			t.Fatal(err)
		}
		got, put := make([]int64, longGet), make([]int64, longGet)
		for turn := range int64(12) {
			ok(t, win.Lock(mpi.LockExclusive, 0, 0))
			if c.Rank() == 1 {
				ok(t, win.Get(got, 0, 0))
			} else {
				fillAll(put, turn*10+int64(c.Rank()))
				ok(t, win.Put(put, 0, 0))
			}
			ok(t, win.Unlock(0))
			uniform(t, got)
		}
		ok(t, win.Free())
	})
}
