package fabrictest

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/wire"
)

// pattern makes the traffic of a test: sender, receiver, channel and number of a frame
// determine its content, so that the receiver knows the next frame.
type pattern struct {
	seed  uint64
	sizes func(r uint64, limit int) int // of the frame drawn by r
	limit int                           // largest payload
	noise []byte                        // payloads are parts of it
}

// channels used by the traffic, the extremes among them.
const channels = 4

func channelNumber(c int) uint16 { return [channels]uint16{0, 1, 0x100, 0xffff}[c] }

func channelIndex(number uint16) int {
	for c := range channels {
		if channelNumber(c) == number {
			return c
		}
	}
	return -1
}

func newPattern(seed uint64, limit int, sizes func(uint64, int) int) *pattern {
	p := &pattern{seed: seed, sizes: sizes, limit: limit, noise: make([]byte, 2*limit+1)}
	rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24, 32), seed))).Read(p.noise)
	return p
}

// channel draws the channel of the n-th frame in all between two ranks.
func (p *pattern) channel(from, to, n int) int {
	return int(mix(p.seed^1, uint64(from), uint64(to), uint64(n)) % channels)
}

// frame returns frame number n of a channel. The payload is not to be written to.
func (p *pattern) frame(from, to, channel, n int) (wire.Header, []byte) {
	r := mix(p.seed, uint64(from)<<32|uint64(to), uint64(channel), uint64(n))
	size := p.sizes(r, p.limit)
	at := mix(r, 1, 2, 3) % uint64(p.limit+1)
	h := wire.Header{
		Size: uint32(size), Kind: wire.Eager + wire.Kind(mix(r, 4, 0, 0)%uint64(wire.User)),
		Flags: uint8(mix(r, 5, 0, 0)), Chan: channelNumber(channel),
		Ctx: mix(r, 6, 0, 0), Tag: int32(mix(r, 7, 0, 0)), Aux: uint32(mix(r, 8, 0, 0)),
		Arg: mix(r, 9, 0, 0), Name: mix(r, 10, 0, 0),
	}
	switch r >> 60 { // the extremes of the words too
	case 0:
		h.Ctx, h.Tag, h.Aux, h.Arg, h.Name = 0, 0, 0, 0, 0
	case 1:
		h.Ctx, h.Tag, h.Aux, h.Arg, h.Name = ^uint64(0), -1, ^uint32(0), ^uint64(0), ^uint64(0)
	}
	return h, p.noise[at : at+uint64(size)]
}

// placed draws whether the receiver returns a place for the payload of a frame.
func placed(h *wire.Header) bool { return mix(h.Ctx, h.Arg, h.Name, 0)%2 == 0 }

// anySize draws sizes of every kind: none, what fits one line of a ring and what
// just does not, some, many, and the limit.
func anySize(r uint64, limit int) int {
	v := int(mix(r, 11, 0, 0) >> 1)
	size := 0
	switch r % 8 {
	case 0:
		size = 0
	case 1:
		size = 8
	case 2:
		size = v % 25
	case 3:
		size = 20 + v%50
	case 4:
		size = v % 1025
	case 5, 6:
		size = v % (1 + limit>>(r/8%8))
	case 7:
		size = limit - v%3
		if r/8%4 != 0 {
			size = v % 4097
		}
	}
	return min(size, limit)
}

// smallSize draws sizes up to 64 bytes.
func smallSize(r uint64, limit int) int { return min(int(r%65), limit) }

// largeSize draws sizes in the upper half.
func largeSize(r uint64, limit int) int { return limit - int(r%uint64(limit/2+1)) }

// mix hashes four words into one.
func mix(a, b, c, d uint64) uint64 {
	for _, w := range [...]uint64{b, c, d, 0x9e3779b97f4a7c15} {
		a = (a ^ w) * 0xbf58476d1ce4e5b9
		a ^= a >> 29
		a *= 0x94d049bb133111eb
		a ^= a >> 32
	}
	return a
}
