package p2p

import (
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/proc"
)

// The fields of a request that a short message uses fill four cache lines: the Event comes last, of which
// Fire and Reset use the first three words. Go allocates objects of 385 to 448 bytes in 448, seven lines.
func TestShortMessagesUseFourCacheLines(t *testing.T) {
	r := Request{}
	if size := unsafe.Sizeof(r); unsafe.Sizeof(uintptr(0)) == 8 && (unsafe.Offsetof(r.Event)+3*8 > 256 || size <= 384 || size > 448) {
		t.Errorf("the Event is at %d of %d bytes", unsafe.Offsetof(r.Event), size)
	}
}

// P2P-12: a wait for the buffer of the process, which belongs to no communicator, is
// described like others.
func TestAWaitWithoutCommunicatorIsDescribed(t *testing.T) {
	e := &Engine{p: new(proc.Proc)}
	if got := string((&Request{engine: e, operation: call.BufferFlush}).AppendAbout(nil)); got != "BufferFlush" {
		t.Errorf("it waits for %q", got)
	}
}
