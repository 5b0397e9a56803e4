package tcp

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// stream encodes frames with payloads of the given sizes.
func encode(sizes ...int) (stream []byte, frames []arrived) {
	for i, n := range sizes {
		a := arrived{wire.Header{Size: uint32(n), Kind: wire.User, Tag: int32(i), Arg: uint64(n)}, bytes.Repeat([]byte{byte('a' + i)}, n)}
		b := make([]byte, wire.HeaderSize)
		a.h.Encode(b)
		stream = append(append(stream, b...), a.payload...)
		frames = append(frames, a)
	}
	return stream, frames
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
			small, frames := encode(3, 0, 50, 1, 0)
			for at := range small {
				fs[1].Speak(0, small[:at])
				for range 3 {
					fs[0].Poll(s, 1)
				}
				fs[1].Speak(0, small[at:])
				expect(t, fs[0], s, frames)
			}
			for i := range small { // byte by byte
				fs[1].Speak(0, small[i:i+1])
				for range 2 {
					fs[0].Poll(s, 1)
				}
			}
			expect(t, fs[0], s, frames)
			// Frames around the sizes of the buffers, in pieces of many sizes.
			large, frames := encode(16<<10-41, 16<<10-40, 16<<10, 1000, 65<<10-1024, wire.MaxPayload, 0, 40<<10, 7)
			for _, piece := range []int{1013, 1 << 10, 16 << 10, 16<<10 + 40, 64<<10 + 1, 1 << 20} {
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
	whole, frames := encode(3, 70, 20<<10)
	cuts := []int{0, 1, 39, 40, 42, 43, 44, 83, 84, 100, 153, 154, 192, 193, 194, 1000, 16 << 10, 17 << 10, len(whole) - 1}
	ends3 := []int{43, 43 + 110, len(whole)}
	for name, mk := range makers() {
		for _, place := range []func(*wire.Header) bool{always, never} {
			t.Run(name, func(t *testing.T) {
				for _, at := range cuts {
					fs := ends(t, mk, 2, limits{})
					meet(t, fs)
					s := newInbox(t)
					s.place = place
					fs[1].Speak(0, whole[:at])
					fs[1].(interface{ Kill() }).Kill()
					for s.downs[1] == nil {
						fs[0].Poll(s, 1)
					}
					n := 0
					for n < len(ends3) && ends3[n] <= at {
						n++
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
				good, frames := encode(5)
				var bad [wire.HeaderSize]byte
				h.Encode(bad[:])
				fs[1].Speak(0, append(good, bad[:]...))
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
