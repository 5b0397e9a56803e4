package offheap

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

type record struct {
	a, b uint64
	more [10]uint64
}

// A record is zero and aligned when it is handed out, and keeps its contents after it is freed. The
// record that was freed last is the next one of its size.
func TestRecordsAreRecycled(t *testing.T) {
	r := New[record]()
	if *r != (record{}) || uintptr(unsafe.Pointer(r))%line != 0 || !Holds(unsafe.Pointer(r)) {
		t.Errorf("a record at %p is %v", r, *r)
	}
	r.a, r.more[9] = 1, 2
	Free(r)
	if r.a != 1 || r.more[9] != 2 {
		t.Error("a record that was freed has lost what was in it")
	}
	if again := New[record](); again != r || *again != (record{}) {
		t.Errorf("after a record at %p was freed the next is at %p: %v", r, again, *again)
	}
	if Holds(unsafe.Pointer(new(record))) {
		t.Error("an object of the Go heap is taken for a record")
	}
}

// Blocks of all sizes share no byte and no cache line with each other.
func TestBlocksAreApart(t *testing.T) {
	var all [][]byte
	for _, n := range []int{1, 63, 64, 65, 128, 129, 1000, 4096, 32 << 10, 32<<10 + 1, 64 << 10, 1 << 20} {
		for range 3 {
			b := Bytes(n)
			if len(b) != n || uintptr(unsafe.Pointer(&b[0]))%line != 0 || !Holds(unsafe.Pointer(&b[n-1])) {
				t.Fatalf("%d bytes at %p, length %d", n, b, len(b))
			}
			all = append(all, b)
		}
	}
	for i, b := range all {
		for k := range b {
			if b[k] != 0 {
				t.Fatalf("byte %d of block %d is %d before it is written", k, i, b[k])
			}
			b[k] = byte(i + 1)
		}
	}
	for i, b := range all {
		for k := range b {
			if b[k] != byte(i+1) {
				t.Fatalf("block %d has a byte of block %d", i, b[k]-1)
			}
		}
		FreeBytes(b)
	}
}

// The collector neither moves nor frees a record to which no pointer of Go refers, such as one whose
// address only C has.
func TestRecordsStayWithoutPointers(t *testing.T) {
	const n = 1000
	at := func() (numbers [n]uintptr) {
		for i := range numbers {
			r := New[record]()
			r.a, r.b = uint64(i), ^uint64(i)
			numbers[i] = uintptr(unsafe.Pointer(r))
		}
		return numbers
	}()
	for range 3 {
		runtime.GC()
	}
	for i := range at {
		r := *(**record)(unsafe.Pointer(&at[i]))
		if r.a != uint64(i) || r.b != ^uint64(i) {
			t.Fatalf("record %d has become %v", i, *r)
		}
		Free(r)
	}
}

// Several goroutines take and free records concurrently, and no two of them have the same one.
func TestRecordsOfManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for range 2000 {
				r, b := New[record](), Bytes(300)
				if r.a != 0 || b[299] != 0 {
					t.Errorf("a record of goroutine %d is in use", g)
				}
				r.a, b[299] = uint64(g+1), byte(g+1)
				if r.a != uint64(g+1) || b[299] != byte(g+1) {
					t.Errorf("a record of goroutine %d is written by another", g)
				}
				r.a, b[299] = 0, 0
				Free(r)
				FreeBytes(b)
			}
		})
	}
	all.Wait()
}

// Taking and freeing a record allocates nothing, once there is memory for it.
func TestRecordsAllocateNothing(t *testing.T) {
	if sys.Race {
		t.Skip("the race detector allocates")
	}
	Free(New[record]())
	if n := testing.AllocsPerRun(100, func() { Free(New[record]()) }); n != 0 {
		t.Errorf("a record takes %v allocations", n)
	}
}
