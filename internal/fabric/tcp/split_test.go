package tcp

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// parcels returns frames with payloads of the given sizes.
func parcels(sizes ...int) (frames []arrived) {
	for i, n := range sizes {
		h := wire.Header{Size: uint32(n), Kind: wire.User, Tag: int32(i), Arg: uint64(n)}
		frames = append(frames, arrived{h, bytes.Repeat([]byte{byte('a' + i)}, n)})
	}
	return frames
}

// expect polls until as many frames as in want have come from process 1, and compares.
func expect(t *testing.T, f made, s *inbox, want []arrived) {
	t.Helper()
	for len(s.frames[1]) < len(want) && s.downs[1] == nil {
		if f.Poll(s, 1) == 0 {
			runtime.Gosched()
		}
	}
	got := s.frames[1]
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d; down: %v", len(got), len(want), s.downs[1])
	}
	for i := range want {
		if got[i].h != want[i].h || !bytes.Equal(got[i].payload, want[i].payload) {
			t.Fatalf("frame %d: have %+v with %d bytes, want %+v", i, got[i].h, len(got[i].payload), want[i].h)
		}
	}
	delete(s.frames, 1)
}

func TestFramesSplitAnywhereAreWhole(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 2, limits{})
			meet(t, fs)
			s := newInbox(t)
			s.place = some
			frames := parcels(3, 0, 50, 1, 0)
			for at, size := 0, 1; at <= size; at++ {
				small := wrap(fs[1], 0, frames...)
				size = len(small)
				fs[1].Speak(0, small[:at])
				for range 3 {
					fs[0].Poll(s, 1)
				}
				fs[1].Speak(0, small[at:])
				expect(t, fs[0], s, frames)
			}
			small := wrap(fs[1], 0, frames...)
			for i := range small { // byte by byte
				fs[1].Speak(0, small[i:i+1])
				for range 2 {
					fs[0].Poll(s, 1)
				}
			}
			expect(t, fs[0], s, frames)
			// Frames around the sizes of the buffers, in pieces of many sizes.
			frames = parcels(16<<10-60, 16<<10-41, 16<<10-40, 16<<10, 1000, 65<<10-1024, wire.MaxPayload, 0, 40<<10, 7)
			for _, piece := range []int{1013, 1 << 10, 16 << 10, 16<<10 + 40, 64<<10 + 1, 1 << 20} {
				large := wrap(fs[1], 0, frames...)
				for at := 0; at < len(large); at += piece {
					fs[1].Speak(0, large[at:min(at+piece, len(large))])
					for range 2 {
						fs[0].Poll(s, 1)
					}
				}
				expect(t, fs[0], s, frames)
			}
		})
	}
}

func TestStreamCutAnywhereEndsInDown(t *testing.T) {
	frames := parcels(3, 70, 20<<10)
	cuts := []int{0, 1, 4, 39, 40, 42, 43, 44, 62, 63, 64, 83, 84, 100, 153, 154, 192, 193, 194, 1000, 16 << 10, 17 << 10, 1 << 20}
	for name, mk := range makers() {
		for _, place := range []func(*wire.Header) bool{always, never} {
			t.Run(name, func(t *testing.T) {
				for _, at := range cuts {
					fs := ends(t, mk, 2, limits{})
					meet(t, fs)
					s := newInbox(t)
					s.place = place
					sealed := fs[1].Seal(0) != nil
					whole := wrap(fs[1], 0, frames...)
					at := min(at, len(whole)-1)
					fs[1].Speak(0, whole[:at])
					fs[1].(interface{ Kill() }).Kill()
					for s.downs[1] == nil {
						fs[0].Poll(s, 1)
					}
					n := 0 // number of whole frames
					for size := 0; ; n++ {
						size += wire.HeaderSize + len(frames[n].payload)
						if sealed {
							size += wire.RecordOverhead
						}
						if size > at {
							break
						}
					}
					expect(t, fs[0], s, frames[:n])
					h := wire.Header{Kind: wire.User}
					if !fs[0].Send(1, &h, nil) {
						t.Error("a frame to a dead peer was not dropped")
					}
					fs[0].Close()
				}
			})
		}
	}
}

func TestHostileFrameEndsTheConnection(t *testing.T) {
	for name, mk := range makers() {
		for _, h := range []wire.Header{{Size: 1}, {Kind: wire.Eager, Size: wire.MaxPayload + 1}, {Kind: 200, Size: ^uint32(0)}} {
			t.Run(name, func(t *testing.T) {
				fs := ends(t, mk, 2, limits{})
				meet(t, fs)
				s := newInbox(t)
				frames := parcels(5)
				fs[1].Speak(0, wrap(fs[1], 0, frames[0], arrived{h: h}))
				for s.downs[1] == nil {
					fs[0].Poll(s, 1)
				}
				expect(t, fs[0], s, frames)
				for range 10 {
					fs[0].Poll(s, -1)
				}
			})
		}
	}
}
