package tcp

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/wire"
)

// sendLong sends a long payload as the engine does: it sends runs while the fabric accepts
// them, and refused frames by Send. It polls after each refusal. pieces is scratch memory.
func sendLong(f made, to int, h wire.Header, payload []byte, pieces [][]byte, poll func()) {
	for at := 0; at < len(payload); {
		next := h
		next.Arg = uint64(at)
		n := f.(fabric.Runner).SendRun(to, &next, cut(pieces, payload[at:]))
		at += n
		if at == len(payload) {
			return
		}
		size := min(f.ChunkMax(), len(payload)-at)
		next.Arg, next.Size = uint64(at), uint32(size)
		for !f.Send(to, &next, payload[at:at+size]) {
			poll()
		}
		at += size
	}
}

// cut divides b into 1 to 64 slices of random lengths, like the blocks of a layout.
func cut(pieces [][]byte, b []byte) [][]byte {
	pieces = pieces[:0]
	for n := rand.IntN(fabric.RunSlices); n > 0 && len(b) > 1; n-- {
		k := 1 + rand.IntN(len(b)-1)>>rand.IntN(12)
		pieces = append(pieces, b[:k])
		b = b[k:]
	}
	return append(pieces, b)
}

// The frames of a run arrive as if each had been sent alone, also if the kernel accepts only
// a part of the run.
func TestRunsArriveAsFrames(t *testing.T) {
	for name, c := range map[string]struct {
		mk maker
		l  limits
	}{
		"raw": {raw, limits{}}, "tiny buffers": {raw, limits{buffer: 16 << 10}}, "small buffers": {raw, limits{buffer: 150 << 10}}, "sealed": {apart(raw), limits{}},
	} {
		t.Run(name, func(t *testing.T) {
			fs, s := ends(t, c.mk, 2, c.l), inboxes(t, 2)
			meet(t, fs)
			s[1].place = some
			noise := rand.NewChaCha8([32]byte{4})
			rng := rand.New(noise)
			for m := range 60 {
				payload := make([]byte, 1+rng.IntN(10*chunkMax))
				noise.Read(payload)
				h := wire.Header{Kind: wire.Data, Tag: int32(m), Ctx: 3, Name: 9}
				sendLong(fs[0], 1, h, payload, nil, func() {
					if fs[1].Poll(s[1], 0)+fs[0].Poll(s[0], 1) == 0 {
						runtime.Gosched()
					}
				})
				want := (len(payload) + chunkMax - 1) / chunkMax
				for len(s[1].frames[0]) < want {
					if fs[1].Poll(s[1], 0) == 0 {
						runtime.Gosched()
					}
				}
				var got []byte
				for i, a := range s[1].frames[0] {
					if a.h.Arg != uint64(len(got)) || a.h.Tag != h.Tag || a.h.Ctx != h.Ctx || a.h.Name != h.Name || a.h.Kind != h.Kind {
						t.Fatalf("message %d: frame %d is %+v", m, i, a.h)
					}
					got = append(got, a.payload...)
				}
				if !bytes.Equal(got, payload) || len(s[1].frames[0]) != want {
					t.Fatalf("message %d of %d bytes came as %d in %d frames", m, len(payload), len(got), len(s[1].frames[0]))
				}
				delete(s[1].frames, 0)
			}
		})
	}
}

func TestRunsAllocateNothing(t *testing.T) {
	fs := ends(t, raw, 2, limits{})
	meet(t, fs)
	a, b := &count{}, &count{place: make([]byte, chunkMax)}
	payload := make([]byte, 3*chunkMax+5)
	pieces := make([][]byte, 0, fabric.RunSlices)
	if n := testing.AllocsPerRun(200, func() {
		want := b.bytes + len(payload)
		sendLong(fs[0], 1, wire.Header{Kind: wire.Data}, payload, pieces, func() { fs[1].Poll(b, 0); fs[0].Poll(a, 1) })
		for b.bytes < want {
			fs[1].Poll(b, 0)
		}
	}); n > 1 { // the one allocation is the closure
		t.Errorf("%v allocations a message", n)
	}
}
