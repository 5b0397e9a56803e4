package sys

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// CopyTo and CopyFrom copy the whole block or report false, and allocate nothing.
func TestCopyToAndFrom(t *testing.T) {
	pid, there := os.Getpid(), make([]byte, 64<<10) // large: on the heap, which does not move
	addr := uint64(uintptr(unsafe.Pointer(&there[0])))
	for _, n := range []int{1, 8, 1000, len(there)} {
		here, back := bytes.Repeat([]byte{7}, n), make([]byte, n)
		clear(there)
		if !CopyTo(pid, addr, here) || !bytes.Equal(here, there[:n]) || n < len(there) && there[n] != 0 {
			t.Errorf("%d bytes did not arrive", n)
		}
		if !CopyFrom(pid, back, addr) || !bytes.Equal(here, back) {
			t.Errorf("%d bytes did not come back", n)
		}
	}
	one := []byte{1}
	for _, bad := range []uint64{0, 8, 1 << 63, ^uint64(0)} {
		if CopyTo(pid, bad, one) || CopyFrom(pid, one, bad) {
			t.Errorf("address %#x can be copied to or from", bad)
		}
	}
	if none := 1 << 30; CopyTo(none, addr, one) || CopyFrom(none, one, addr) { // above all process numbers
		t.Error("a process that is not can be copied to or from")
	}
	page := os.Getpagesize()
	edge, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(edge)
	if err := syscall.Mprotect(edge[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	some, end := bytes.Repeat([]byte{7}, 8), uint64(uintptr(unsafe.Pointer(&edge[page-1])))
	if CopyTo(pid, end, some) || CopyFrom(pid, some, end) || edge[page-1] != 7 { // the kernel copies the first byte
		t.Error("what is copied in part is reported as made")
	}
	if n := testing.AllocsPerRun(100, func() { _ = CopyTo(pid, addr, one) && CopyFrom(pid, one, addr) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}
