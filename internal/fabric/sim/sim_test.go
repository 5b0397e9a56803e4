package sim

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/fabrictest"
	"github.com/halo-mpi/halo/internal/wire"
)

func TestConformance(t *testing.T) {
	for name, far := range map[string]Link{
		"Immediate": {},
		"Delays":    {Latency: 50 * time.Microsecond, Overhead: time.Microsecond, Gap: time.Microsecond, PerByte: 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			fabrictest.RunPart(t, 10, func(t testing.TB, n int) (fs []fabric.Fabric) {
				net := New(make([]int32, n), far, Link{})
				for i := range n {
					fs = append(fs, net.Fabric(i))
				}
				return fs
			})
		})
	}
}

// sink records the times at which frames and the ends of peers are delivered.
type sink struct {
	net   *Network
	times []string
}

func (s *sink) Frame(from int, h *wire.Header, payload []byte) {
	s.times = append(s.times, fmt.Sprint(from, " ", len(payload), " ", s.net.Now()))
}
func (s *sink) Place(int, *wire.Header) []byte { return nil }
func (s *sink) Placed(int, *wire.Header)       {}
func (s *sink) Down(peer int, _ error) {
	s.times = append(s.times, fmt.Sprint(peer, " down ", s.net.Now()))
}

// Frames are delivered at the times of the model: see the package's comment for the formulas.
func TestTimesOfTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := time.Microsecond
		net := New([]int32{0, 0, 1}, Link{Latency: us, Overhead: us}, Link{Latency: 100 * us, Overhead: 10 * us, Gap: 5 * us, PerByte: 1000})
		payload := make([]byte, 60)
		h := wire.Header{Kind: wire.Eager}
		for range 2 { // leave after 10 us and, since 100 bytes occupy the link, after 110 us
			net.Fabric(0).Send(2, &h, payload)
		}
		net.Fabric(1).Send(2, &h, nil) // 40 bytes leave after 10 us
		net.Fabric(1).Send(0, &h, nil) // leaves when these 40 bytes no longer occupy the link, after 50 us
		net.Fabric(1).Close()
		for _, x := range []struct {
			rank int
			want []string
		}{
			{0, []string{"1 0 52µs", "1 down 52µs"}},
			{2, []string{"1 0 160µs", "1 down 160µs", "0 60 220µs", "0 60 320µs"}},
		} {
			s := &sink{net: net}
			for f := net.Fabric(x.rank); len(s.times) < len(x.want); {
				f.Arm()
				if f.Poll(s, -1) == 0 {
					f.Sleep()
				}
			}
			if !slices.Equal(s.times, x.want) {
				t.Errorf("rank %d: %q, want %q", x.rank, s.times, x.want)
			}
		}
	})
}
