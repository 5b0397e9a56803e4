package syncobject

import "github.com/halo-mpi/halo/internal/shmfmt"

// Max is the largest number of objects of a window at each member: they use the upper half of its
// counters.
const Max = shmfmt.CountersMax / 2

// firstCounter is the lowest counter that an object may have.
const firstCounter = shmfmt.CountersMax - Max

// Handle names a synchronisation object in all processes; 0 names none. It is one word,
// like a handle of C:
//
//	bits 0..14   the number of its counter, in the upper half
//	bits 15..30  16 bits of the identity of its process
//	bits 31..46  a hash of its window's id
//	bits 47..63  a serial number, not 0, which differs from those of earlier objects of the counter
type Handle uint64

// windowBits are the bits that the handles of all objects of one window have in common.
const windowBits = 0xffff << 31

func newHandle(window uint64, process uint16, counter uint32, serial uint64) Handle {
	const serials = 1<<17 - 1
	return Handle(counter-firstCounter) | Handle(process)<<15 | hash(window) | Handle(1+serial%serials)<<47
}

// hash returns the windowBits for a window's id: the upper bits of the product of the id and 2^64
// divided by the golden ratio, which differ for consecutive ids.
func hash(window uint64) Handle {
	return Handle(window*0x9e3779b97f4a7c15>>48) << 31
}

// Counter is the number of the object's counter.
func (h Handle) Counter() int { return int(h&(1<<15-1)) + firstCounter }

// Process is 16 bits of the identity of the process that owns the object.
func (h Handle) Process() uint16 { return uint16(h >> 15) }

// Of reports whether h can be a handle of an object of a window.
func (h Handle) Of(window uint64) bool { return h&windowBits == hash(window) }
