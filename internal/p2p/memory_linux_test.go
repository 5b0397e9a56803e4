package p2p

import (
	"os"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// untouched is memory of which each page that is read or written takes a page of a file, and the size of that
// file in bytes.
func untouched(t *testing.T, size int) (b []byte, touched func() int64) {
	t.Helper()
	f, err := sys.Memfd("test", int64(size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b, err = sys.Map(f, int64(size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Unmap(b) })
	return b, func() int64 {
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return 512 * info.Sys().(*syscall.Stat_t).Blocks
	}
}

// BRD-09: The engine reads nothing but the ends of a long message before the receiver asks for it, and then no more
// than one piece at a time, between which the lock can be free. The same holds for the memory of a receive.
func TestBRD09_LongMessagesAreTestedInPieces(t *testing.T) {
	const size = 64 << 20
	page := int64(os.Getpagesize())
	e, c, _ := alone(t)
	b, touched := untouched(t, size)
	before := touched()
	grown := func(most int64, when string) {
		t.Helper()
		now := touched()
		if now-before > most+2*page {
			t.Fatalf("%s: %d bytes are touched, want at most %d", when, now-before, most)
		}
		before = now
	}
	r := e.isend(c, ctx, Synchronous, b, 1, 1)
	grown(wire.MaxPayload, "a send is announced")
	e.Frame(1, &wire.Header{Kind: wire.Clear, Name: r.handle, Arg: 1<<32 | 9, Ctx: size}, nil)
	for !r.Done() {
		e.Work()
		grown(testedMax, "a piece is sent")
	}
	if r.Status.Err != nil {
		t.Fatal(r.Status.Err)
	}

	b, touched = untouched(t, size)
	before = touched()
	r = e.irecv(c, ctx, b, 1, 1)
	e.Frame(1, &wire.Header{Kind: wire.Ready, Ctx: ctx, Tag: 1, Arg: size, Name: 1<<32 | 7}, nil)
	grown(wire.MaxPayload, "a receive is matched")
	h := wire.Header{Kind: wire.Data, Size: wire.MaxPayload, Name: r.handle}
	for ; h.Arg < size; h.Arg += wire.MaxPayload {
		if e.Place(1, &h) == nil {
			t.Fatal("the buffer of a receive is not used")
		}
		grown(wire.MaxPayload, "a frame is placed")
		e.Placed(1, &h)
	}
	if !r.Done() || r.Status.Err != nil {
		t.Fatalf("done %t, %v", r.Done(), r.Status.Err)
	}
}
