package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

const (
	// StreamTurns is how many pieces of broadcasts may be on their way in a slot:
	// by so many a root can be ahead of the last member.
	StreamTurns = 64
	// StreamShort is what fits beside the number of a piece in bytes.
	StreamShort = Line - 16
	// StreamBytes is the memory for the payloads of longer pieces. It fits the
	// second-level cache, together with what the members copy from and to.
	StreamBytes = 256 << 10
	// StageSize is what a member can give to one step of a collective in a slot, in
	// bytes.
	StageSize = 192 << 10
)

// TurnBits is how many bits of Turn.Size are the length; those above are what is said.
const TurnBits = 40

// Turn announces a piece of a broadcast. All in it but Number is written before
// that, by the root; who sees the number has the rest.
type Turn struct {
	// Number is that of the piece, 1 for the first in the slot, which stands in
	// turn Number % StreamTurns: stored by the root after the payload, loaded before
	// it by all others.
	Number atomic.Uint64
	// Size is the length in bytes of the whole broadcast, from which all members derive where
	// the pieces stand, in the lower TurnBits bits, and above what the root says about it: a
	// word of package coll, 0 for nothing.
	Size  uint64
	Short [StreamShort]byte
}

// Bulk memory is the part of the control segment behind the slots: for each of them
// the payloads of its stream, and two stages for each member. It is sparse, and
// costs nothing until it is used; on the heap it does not exist until then.
//
// Stages are two, which the steps of a collective use in turn.
type Stages [2][StageSize]byte

const stagesSize = int64(unsafe.Sizeof(Stages{}))

// BulkSize is the size in bytes of the bulk memory of one slot for n processes.
func BulkSize(n int) int64 { return StreamBytes + int64(n)*stagesSize }

// part is size bytes of the bulk memory of the slot, from at on.
func (s Slot) part(at, size int64) []byte {
	whole := BulkSize(s.c.n)
	if s.c.heap != nil {
		return s.c.heap.part(s.index, whole)[at : at+size : at+size]
	}
	return s.c.open.part(s.c.mem, s.c.bulk+int64(s.index)*whole+at, size)
}

// Stream is the memory for the payloads of the stream's longer pieces.
func (s Slot) Stream() *[StreamBytes]byte { return (*[StreamBytes]byte)(s.part(0, StreamBytes)) }

// Stages are where each of n members, by its rank, puts what it gives, in turn.
func (s Slot) Stages(n int) []*Stages {
	mem := s.part(StreamBytes, int64(n)*stagesSize)
	all := make([]*Stages, n)
	for i := range all {
		all[i] = (*Stages)(unsafe.Pointer(&mem[int64(i)*stagesSize]))
	}
	return all
}
