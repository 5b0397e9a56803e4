package syncobject

import "github.com/halo-mpi/halo/internal/shmfmt"

// Max is how many objects a window has at most at each member: the upper half of its counters.
const Max = shmfmt.CountersMax / 2

// firstCounter is the lowest counter that objects have.
const firstCounter = shmfmt.CountersMax - Max

// Handle names a synchronisation object, wherever in the job it is used; 0 names none. It is one
// word, as handles of C are:
//
//	bits 0..14   the number of its counter, in the upper half
//	bits 15..30  its process, of boot.MaxRanks
//	bits 31..46  a hash of its window's id
//	bits 47..63  a serial number, not 0, which tells it from others that have had the counter
type Handle uint64

// windowBits are the bits of handles that the objects of one window have in common.
const windowBits = 0xffff << 31

func newHandle(window uint64, process int, counter uint32, serial uint64) Handle {
	const serials = 1<<17 - 1
	return Handle(counter-firstCounter) | Handle(process)<<15 | hash(window) | Handle(1+serial%serials)<<47
}

// hash is the windowBits of a window's id: the upper bits of its product with 2^64 over the golden
// ratio, which differ for ids that follow each other.
func hash(window uint64) Handle {
	return Handle(window*0x9e3779b97f4a7c15>>48) << 31
}

// Counter is the number of the object's counter.
func (h Handle) Counter() int { return int(h&(1<<15-1)) + firstCounter }

// Process is the index in the job of the process that has the object.
func (h Handle) Process() int32 { return int32(h >> 15 & (1<<16 - 1)) }

// Of reports whether h can be a handle of an object of a window.
func (h Handle) Of(window uint64) bool { return h&windowBits == hash(window) }
