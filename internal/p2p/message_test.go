package p2p

import (
	"testing"
	"unsafe"
)

// An unexpected message with a short payload takes two cache lines: with a third one a receive from
// a deep queue would load one more.
func TestMessageFillsTwoCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(Message{}); unsafe.Sizeof(uintptr(0)) == 8 && size != 128 {
		t.Errorf("a Message has %d bytes, want 128", size)
	}
}
