package p2p

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// P2P-06: a short message that is sent while a long one is under way leaves before the end of that, after
// one piece of it. The process polls between the pieces, so that what arrives waits for one piece, too.
func TestP2P06_ShortMessageBehindALongOne(t *testing.T) {
	e, c, w := alone(t)
	const pieces = 20
	long := e.isend(c, ctx, Standard, make([]byte, pieces*w.ChunkMax()), 1, 1)
	e.Frame(1, &wire.Header{Kind: wire.Clear, Name: long.handle, Arg: 9, Ctx: uint64(pieces * w.ChunkMax())}, nil)
	want := []wire.Kind{wire.Ready}
	for range 3 {
		e.Work()
		short := e.isend(c, ctx, Standard, make([]byte, 8), 1, 2)
		if !short.Done() || long.Done() {
			t.Fatalf("the short message is sent: %t; the long one is complete: %t", short.Done(), long.Done())
		}
		e.Free(short)
		want = append(want, wire.Data, wire.Eager)
	}
	if !slices.Equal(w.kinds, want) {
		t.Fatalf("frames of kinds %d, want %d", w.kinds, want)
	}
	for range pieces - 3 {
		e.Work()
		want = append(want, wire.Data)
	}
	if !long.Done() || !slices.Equal(w.kinds, want) {
		t.Fatalf("the long message is complete: %t; frames of kinds %d, want %d", long.Done(), w.kinds, want)
	}
	e.Free(long)
}
