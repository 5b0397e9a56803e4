package offheap

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/testrun"
)

// A long block takes memory only for the pages that are touched, also when it is handed out again.
// It is zero as soon as it is freed.
func TestLongBlocksAreSparse(t *testing.T) {
	testrun.PlainOnly(t, "under the race detector it is part of the Go heap")
	const n = 64 << 20
	for range 2 {
		b := Bytes(n)
		for i := 0; i < n; i += n / 4 {
			if b[i] != 0 {
				t.Fatalf("byte %d is %d before it is written", i, b[i])
			}
			b[i] = 1
		}
		if here := resident(t, b); here > 16 {
			t.Errorf("4 touched bytes of a block take %d pages", here)
		}
		FreeBytes(b)
		if b[0] != 0 || b[n/2] != 0 {
			t.Error("a long block that was freed is not zero")
		}
	}
}

// resident returns how many pages of the mapping b take memory.
func resident(t *testing.T, b []byte) (n int) {
	t.Helper()
	pages := make([]byte, len(b)/os.Getpagesize())
	_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}

// If no memory can be mapped for records, the program ends with the reason: records must not come
// from the Go heap, which C must not read.
func TestNoMemoryForRecords(t *testing.T) {
	testrun.PlainOnly(t, "under the race detector records are part of the Go heap")
	defer func() {
		err, ok := recover().(error)
		if !ok || !strings.Contains(err.Error(), "hot: no memory for records of this process: mmap of 35184372088832 bytes") {
			t.Errorf("the end of the program says %v", err)
		}
		Free(New[record]()) // the arena is usable
	}()
	for range 5 { // more than there are addresses
		Bytes(1 << 45)
	}
}
