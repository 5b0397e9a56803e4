package mpi_test

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// MEM-01: memory has as many elements as requested, all zero; every byte can be written and
// read. Zero elements are allowed, too.
func TestMEM01AllocMemGivesWhatWasAskedFor(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		sizes := []int{1, 63, 4096, 100_000, 5 << 20}
		if c.Rank() == 0 && !testrun.Race && !testing.Short() && strings.Contains(t.Name(), "shm") {
			sizes = append(sizes, 1<<30) // takes seconds
		}
		pattern := make([]byte, 1<<16)
		for i := range pattern {
			pattern[i] = byte(i*i>>3) | 1
		}
		for _, n := range sizes {
			mem, err := mpi.AllocMem[byte](c, n)
			if err != nil || len(mem) != n || cap(mem) != n {
				t.Fatalf("%d bytes: %d with room for %d, %v", n, len(mem), cap(mem), err)
			}
			if mem[0] != 0 || mem[n/2] != 0 || mem[n-1] != 0 {
				t.Errorf("%d bytes: not all are zero", n)
			}
			for at := 0; at < n; at += len(pattern) {
				copy(mem[at:], pattern)
			}
			for at := 0; at < n; at += len(pattern) {
				if part := mem[at:min(n, at+len(pattern))]; string(part) != string(pattern[:len(part)]) {
					t.Fatalf("%d bytes: what was written at %d is gone", n, at)
				}
			}
			if err := mpi.FreeMem(c, mem); err != nil {
				t.Error(err)
			}
		}
		type wide [40]float64
		none, err := mpi.AllocMem[wide](c, 0)
		if err != nil || len(none) != 0 {
			t.Errorf("no elements: %d, %v", len(none), err)
		}
		other, err := mpi.AllocMem[wide](c, 0)
		if err != nil || unsafe.SliceData(none) == unsafe.SliceData(other) {
			t.Errorf("no elements again: at the same place, %v", err)
		}
		for _, m := range [][]wide{none, other} {
			if err := mpi.FreeMem(c, m); err != nil {
				t.Error(err)
			}
		}
	})
}

// MEM-02: such memory is a buffer like any other, and windows accept any other memory, too.
// MEM-07: this includes locks.
func TestMEM02MEM07AnyMemoryWillDo(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		mem, err := mpi.AllocMem[int64](c, 100)
		if err != nil {
			t.Fatal(err)
		}
		me, next, last := c.Rank(), (c.Rank()+1)%3, (c.Rank()+2)%3
		for i := range mem[:50] {
			mem[i] = int64(100*me + i)
		}
		if _, err := mpi.Sendrecv(c, mem[:50], next, 1, mem[50:], last, 1); err != nil || mem[50] != int64(100*last) || mem[99] != int64(100*last+49) {
			t.Errorf("a message from memory to memory: %d to %d, %v", mem[50], mem[99], err)
		}
		for what, place := range map[string][]int64{"AllocMem": mem, "Go": make([]int64, 100)} {
			w, err := mpi.WinCreate(c, place)
			if err != nil {
				t.Fatal(err)
			}
			place[7] = -1
			if err := c.Barrier(); err != nil {
				t.Error(err)
			}
			for _, err := range []error{
				w.Lock(mpi.LockExclusive, next, 0), w.Put([]int64{int64(me)}, next, 7), w.Unlock(next), c.Barrier(),
				w.Lock(mpi.LockShared, me, 0), w.Unlock(me),
			} {
				if err != nil {
					t.Errorf("memory of %s: %v", what, err)
				}
			}
			if place[7] != int64(last) {
				t.Errorf("memory of %s: %d was put, want %d", what, place[7], last)
			}
			if err := w.Free(); err != nil {
				t.Error(err)
			}
		}
		if err := mpi.FreeMem(c, mem); err != nil {
			t.Error(err)
		}
	})
}

// MEM-03: unknown or invalid hints change nothing, and neither do empty ones.
func TestMEM03HintsChangeNothing(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		for _, pairs := range [][2]string{{"", ""}, {"no_such_key", "yes"}, {"mpi_minimum_memory_alignment", "many"},
			{"mpi_minimum_memory_alignment", "-8"}, {"mpi_minimum_memory_alignment", "48"}, {"mpi_minimum_memory_alignment", "1152921504606846976"}} {
			info := mpi.NewInfo()
			if pairs[0] != "" {
				if err := info.Set(pairs[0], pairs[1]); err != nil {
					t.Fatal(err)
				}
			}
			mem, err := mpi.AllocMem[int32](c, 1000, info)
			if err != nil || len(mem) != 1000 {
				t.Errorf("%v: %d elements, %v", pairs, len(mem), err)
				continue
			}
			if err := mpi.FreeMem(c, mem); err != nil {
				t.Error(err)
			}
		}
	})
}

// MEM-04: requests for more memory than exists, or can exist, are ErrNoMem at once, with
// numbers, and the process continues.
func TestMEM04TooMuchIsNoMem(t *testing.T) {
	machine := int(min(sys.PhysicalMemory(), 1<<50))
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, n := range []int{1 << 60, math.MaxInt, machine + 1, 2*machine + 1, 100 * machine} {
			mem, err := mpi.AllocMem[byte](c, n)
			if !errors.Is(err, mpi.ErrNoMem) || mem != nil || !strings.Contains(err.Error(), strconv.Itoa(n)) {
				t.Errorf("%d bytes: %d, %v", n, len(mem), err)
			}
		}
		if _, err := mpi.AllocMem[float64](c, math.MaxInt/4); !errors.Is(err, mpi.ErrNoMem) {
			t.Errorf("more bytes than can be counted: %v", err)
		}
		if _, err := mpi.AllocMem[float64](c, -1); !errors.Is(err, mpi.ErrSize) {
			t.Errorf("-1 elements: %v", err)
		}
		if _, err := mpi.AllocMem[*int](c, 1); !errors.Is(err, mpi.ErrType) {
			t.Errorf("pointers: %v", err)
		}
		if _, err := mpi.AllocMem[byte](nil, 1); !errors.Is(err, mpi.ErrComm) {
			t.Errorf("no communicator: %v", err)
		}
		mem, err := mpi.AllocMem[byte](c, 10)
		if err == nil {
			err = mpi.FreeMem(c, mem)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// MEM-05: FreeMem of memory that AllocMem has not returned is ErrBase, and so is the second
// FreeMem of a block.
func TestMEM05FreeMemOfOtherMemory(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		mem, err := mpi.AllocMem[int32](c, 100)
		if err != nil {
			t.Fatal(err)
		}
		var stack [4]int32
		for what, m := range map[string][]int32{"nil": nil, "nothing": {}, "the stack": stack[:], "the heap of Go": make([]int32, 1000),
			"the second element": mem[1:], "the end": mem[99:]} {
			if err := mpi.FreeMem(c, m); !errors.Is(err, mpi.ErrBase) {
				t.Errorf("%s: %v", what, err)
			}
		}
		mem[99] = 5
		if err := mpi.FreeMem(c, mem[:3]); err != nil { // a slice of any length
			t.Error(err)
		}
		if err := mpi.FreeMem(c, mem); !errors.Is(err, mpi.ErrBase) {
			t.Errorf("again: %v", err)
		}
		if err := mpi.FreeMem[int32](nil, mem); !errors.Is(err, mpi.ErrComm) {
			t.Errorf("no communicator: %v", err)
		}
	})
}

// MEM-06: a put into memory of AllocMem needs no call of the target, which only reads its
// memory.
func TestMEM06TargetOnlyLooks(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		mem, err := mpi.AllocMem[uint64](c, 1000)
		if err != nil {
			t.Fatal(err)
		}
		w, err := mpi.WinCreate(c, mem)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.LockAll(0); err != nil {
			t.Error(err)
		}
		if c.Rank() == 0 {
			// With accumulates, which are atomic: the target may read with atomic loads.
			for _, at := range []int{999, 500, 0} {
				if err := w.Accumulate([]uint64{uint64(at + 1)}, 1, at, mpi.Replace); err != nil {
					t.Error(err)
				}
				if err := w.Flush(1); err != nil {
					t.Error(err)
				}
			}
		} else {
			for atomic.LoadUint64(&mem[0]) == 0 {
				runtime.Gosched()
			}
			if mem[0] != 1 || mem[500] != 501 || mem[999] != 1000 {
				t.Errorf("the target sees %d, %d and %d", mem[0], mem[500], mem[999])
			}
		}
		if err := w.UnlockAll(); err != nil {
			t.Error(err)
		}
		if err := w.Free(); err != nil {
			t.Error(err)
		}
		if err := mpi.FreeMem(c, mem); err != nil {
			t.Error(err)
		}
	})
}

// X-RMA-14: memory begins at a multiple of the requested alignment, and at a multiple of 64 in
// any case.
func TestXRMA14AllocMemAlignment(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		for align := uintptr(1); align <= 1<<21; align <<= 1 {
			info := mpi.NewInfo()
			if err := info.Set("mpi_minimum_memory_alignment", strconv.Itoa(int(align))); err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{0, 1, 3000} {
				mem, err := mpi.AllocMem[uint16](c, n, info)
				if err != nil {
					t.Fatal(err)
				}
				if at := uintptr(unsafe.Pointer(unsafe.SliceData(mem))); at%max(align, 64) != 0 {
					t.Errorf("%d elements at %#x, not a multiple of %d", n, at, align)
				}
				if err := mpi.FreeMem(c, mem); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
