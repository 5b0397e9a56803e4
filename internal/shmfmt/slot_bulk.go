package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

const (
	// StreamTurns is how many pieces a root can be ahead of the last member.
	StreamTurns = 64
	// StreamShort is the size in bytes of the payload that fits into the line of a Turn.
	StreamShort = Line - 16
	// StreamBytes is the size in bytes of the memory for the payloads of longer pieces. It fits
	// the second-level cache, together with what the members copy from and to.
	StreamBytes = 256 << 10
	// StageSize is the size in bytes of the largest contribution of a member to one step of a
	// collective. The longer a step, the less often a core changes to another of its members; 1 MiB would
	// not stay in the second-level cache of two members. With 256 and 512 KiB a short message between two
	// processes takes a tenth longer, though it touches no stage; with 192 and 384 KiB it does not.
	StageSize = 384 << 10
)

// TurnBits is how many lower bits of Turn.Size are the length. The bits above are what the root states.
const TurnBits = 40

// Turn announces a piece of a broadcast. The root writes all other fields before Number, so that a
// member that loads the number has them too.
type Turn struct {
	// Number is the number of the piece, 1 for the first in the slot; the piece is in turn
	// Number % StreamTurns. The root stores it after the payload, and all others load it before.
	Number atomic.Uint64
	// Size has in its lower TurnBits bits the length in bytes of the whole broadcast, from which
	// all members derive the offsets of the pieces. The bits above are what the root states about
	// it: a word of package coll, 0 for none.
	Size  uint64
	Short [StreamShort]byte
}

// Stages are the two places for longer contributions of a member, which the steps of a collective use
// in turn.
//
// Stages and streams are the bulk memory: the part of the control segment behind the slots. It has for
// each slot the payloads of its stream, and the Stages of each member. It is sparse and costs no
// memory before its first use; on the Go heap it is allocated then.
type Stages [2][StageSize]byte

const stagesSize = int64(unsafe.Sizeof(Stages{}))

// BulkSize returns the size in bytes of the bulk memory of one slot for n processes.
func BulkSize(n int) int64 { return StreamBytes + int64(n)*stagesSize }

// part returns size bytes of the bulk memory of the slot from offset at.
func (s Slot) part(at, size int64) []byte {
	whole := BulkSize(s.c.n)
	if s.c.heap != nil {
		return s.c.heap.part(s.index, whole)[at : at+size : at+size]
	}
	return s.c.open.part(s.c.mem, s.c.bulk+int64(s.index)*whole+at, size)
}

// Stream returns the memory for the payloads of the longer pieces of the stream.
func (s Slot) Stream() *[StreamBytes]byte { return (*[StreamBytes]byte)(s.part(0, StreamBytes)) }

// Stages returns the stages of each of n members, by rank.
func (s Slot) Stages(n int) []*Stages {
	mem := s.part(StreamBytes, int64(n)*stagesSize)
	all := make([]*Stages, n)
	for i := range all {
		all[i] = (*Stages)(unsafe.Pointer(&mem[int64(i)*stagesSize]))
	}
	return all
}
