package tcp

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// traffic sends frames of many sizes both ways between all ends at once, and
// checks that each arrives whole and in order.
func traffic(t testing.TB, fs []made, frames, max int, place func(*wire.Header) bool) {
	t.Helper()
	n := len(fs)
	sinks := make([]*inbox, n)
	next := make([][]int, n) // next[i][j]: number of the next frame from i to j
	for i := range fs {
		sinks[i] = newInbox(t)
		sinks[i].place = place
		next[i] = make([]int, n)
	}
	seed := func(i, j, k int) uint64 { return uint64(i)<<48 | uint64(j)<<32 | uint64(k) }
	left := frames * n * (n - 1)
	taken := make([][]int, n)
	for i := range taken {
		taken[i] = make([]int, n)
	}
	for left > 0 {
		idle := true
		for i, f := range fs {
			for j := range fs {
				if i == j || next[i][j] == frames {
					continue
				}
				b := pattern(seed(i, j, next[i][j]), max)
				h := wire.Header{Kind: wire.User, Size: uint32(len(b)), Tag: int32(next[i][j]), Ctx: 5, Arg: 1 << 40, Name: uint64(i), Chan: 3}
				holder, _ := f.(fabric.Holder)
				if holder != nil && h.Tag%3 == 1 && holder.Hold(j, &h, b) || f.Send(j, &h, b) {
					next[i][j]++
					idle = false
				}
			}
			if f.Poll(sinks[i], (i+1)%n) > 0 {
				idle = false
			}
			for j, got := range sinks[i].frames {
				for _, a := range got {
					if want := pattern(seed(j, i, taken[i][j]), max); int(a.h.Tag) != taken[i][j] || a.h.Name != uint64(j) || !bytes.Equal(a.payload, want) {
						t.Fatalf("from %d to %d: frame %d with %d bytes arrived as number %d, want %d bytes", j, i, a.h.Tag, len(a.payload), taken[i][j], len(want))
					}
					taken[i][j]++
					left--
				}
				delete(sinks[i].frames, j)
			}
			for j, err := range sinks[i].downs {
				t.Fatalf("process %d sees %d down: %v", i, j, err)
			}
		}
		if idle {
			for i, f := range fs {
				for j := range fs {
					if holder, ok := f.(fabric.Holder); ok && i != j {
						holder.Release(j)
					}
				}
			}
			runtime.Gosched()
		}
	}
}

func always(*wire.Header) bool { return true }
func never(*wire.Header) bool  { return false }
func some(h *wire.Header) bool { return h.Tag%3 != 0 }

func TestFramesArriveWholeAndInOrder(t *testing.T) {
	testrun.Covered(t)
	part := 1
	if testrun.Race {
		part = 4
	}
	for name, mk := range makers() {
		for _, c := range []struct {
			name   string
			n      int
			frames int
			l      limits
			place  func(*wire.Header) bool
		}{
			{"two/placed", 2, 2000, limits{}, always},
			{"two/gathered", 2, 1000, limits{}, never},
			{"two/mixed", 2, 1000, limits{}, some},
			{"two/tiny buffers", 2, 80, limits{buffer: 16 << 10}, some},
			{"five", 5, 200, limits{}, some},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				traffic(t, ends(t, mk, c.n, c.l), c.frames/part, wire.MaxPayload, c.place)
			})
		}
	}
}
