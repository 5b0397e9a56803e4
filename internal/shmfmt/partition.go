package shmfmt

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Partitions is the control block of the receive of a partitioned communication, in memory that
// the sender maps:
//
//	0     open, direct: see partitionsHead
//	64    done
//	128   for each partition of the receive, the number of bytes that have ever arrived
//
// The receive is started again and again. Nothing is reset in between: rounds and bytes only grow.
type Partitions struct {
	*partitionsHead
	arrived []atomic.Uint64
}

type partitionsHead struct {
	open   atomic.Uint64 // the round of the receive whose partitions the sender may copy
	direct atomic.Uint32 // 1 after SetDirect
	_      [Line - 12]byte
	done   atomic.Uint64 // the last round whose bytes are all in the buffer
	_      [Line - 8]byte
}

// PartitionsSize is the size in bytes of the block of a receive of n partitions.
func PartitionsSize(n int64) int64 { return 2*Line + 8*n }

// OpenPartitions returns the block of a receive of n partitions in mem. Zero memory is the block of
// a receive that was never started.
func OpenPartitions(mem []byte, n int64) (Partitions, error) {
	if size := PartitionsSize(n); n < 0 || int64(len(mem)) < size {
		return Partitions{}, fmt.Errorf("shmfmt: %d bytes for the block of %d partitions, want %d", len(mem), n, size)
	}
	if uintptr(unsafe.Pointer(&mem[0]))%8 != 0 {
		return Partitions{}, fmt.Errorf("shmfmt: block of partitions at %p, want a multiple of 8", &mem[0])
	}
	p := Partitions{partitionsHead: (*partitionsHead)(unsafe.Pointer(&mem[0]))}
	if n > 0 {
		p.arrived = unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[2*Line])), n)
	}
	return p, nil
}

// Exists reports whether p is a block.
func (p Partitions) Exists() bool { return p.partitionsHead != nil }

// Open starts round number round of the receive: the sender may copy partitions of that round.
func (p Partitions) Open(round uint64) { p.open.Store(round) } // pairs with the load in IsOpen

// IsOpen reports whether the receive is in round number round, which the sender has started.
func (p Partitions) IsOpen(round uint64) bool { return p.open.Load() == round } // pairs with the store in Open

// SetDirect says that the sender itself writes to the buffer, and calls IsOpen before it does.
func (p Partitions) SetDirect() { p.direct.Store(1) } // pairs with the load in Direct

// Direct reports whether SetDirect was called. The receiver opens a round and then loads this;
// the sender sets it and then loads the round. So at least one of the two sees the store of the
// other.
func (p Partitions) Direct() bool { return p.direct.Load() != 0 } // pairs with the store in SetDirect

// Arrive counts n more bytes of partition i of the receive, which are in its buffer now.
func (p Partitions) Arrive(i int, n uint64) { p.arrived[i].Add(n) } // pairs with the load in Arrived

// Arrived is how many bytes of partition i have arrived in all rounds so far.
func (p Partitions) Arrived(i int) uint64 { return p.arrived[i].Load() } // pairs with the Add in Arrive

// Finish says that all bytes of a round are in the buffer.
func (p Partitions) Finish(round uint64) { p.done.Store(round) } // pairs with the load in Finished

// Finished is the last round whose bytes are all in the buffer.
func (p Partitions) Finished() uint64 { return p.done.Load() } // pairs with the store in Finish
