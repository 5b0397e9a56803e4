package offheap

import (
	"runtime"
	"testing"
	"unsafe"
)

// longRecord has a class of blocks to itself in these tests.
type longRecord [3 * longMin / 8]uint64

// What is owned stays for as long as its owner can be reached, and is handed out again after that.
func TestOwnedRecordsAreRecycled(t *testing.T) {
	owner := new([16]*int) // no tiny object, which may share its memory
	r, b := Owned[longRecord](owner), OwnedBytes(owner, 10*longMin)
	r[7], b[9] = 7, 9
	for range 3 {
		runtime.GC()
		if other := New[longRecord](); other == r || r[7] != 7 || b[9] != 9 {
			t.Fatalf("a record of a live owner at %p is %v, another one is at %p", r, r[7], other)
		} else {
			defer Free(other)
		}
	}
	runtime.KeepAlive(owner)
	owner = nil
	again := func(p unsafe.Pointer, take func() unsafe.Pointer) {
		for take() != p {
			runtime.GC() // the free ones are taken one after the other, and then new ones
		}
	}
	again(unsafe.Pointer(r), func() unsafe.Pointer { return unsafe.Pointer(New[longRecord]()) })
	again(unsafe.Pointer(&b[0]), func() unsafe.Pointer { return unsafe.Pointer(&Bytes(10 * longMin)[0]) })
	if r[7] != 0 || b[9] != 0 {
		t.Error("memory that is handed out again is not zero")
	}
}
