package shmfmt

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

// Attached is memory that is attached to a dynamic window, as its process tells others
// of the node.
type Attached struct {
	Addr uint64 // in its process
	Size uint64 // in bytes
	Off  int64  // in its process's segment, -1 if it is not there
}

// attachedWords is the length of an entry: address, size, offset.
const attachedWords = 3

// AttachTable is what a process has attached to a dynamic window, sorted by address: an
// array of entries in its memory, whose place and length stand in the control block.
// Only the process writes it, between two odd and even values of TableVersion; a
// reader, who loads word by word, may see anything meanwhile.
type AttachTable struct{ words []atomic.Uint64 }

// AttachTableSize is the size in bytes of a table of n entries.
func AttachTableSize(n int) int64 { return int64(n) * attachedWords * 8 }

// OpenAttachTable returns the table in mem, which begins at a line.
func OpenAttachTable(mem []byte) AttachTable {
	if len(mem) < 8 {
		return AttachTable{}
	}
	return AttachTable{unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[0])), len(mem)/8)}
}

// Cap is how many entries there is room for.
func (t AttachTable) Cap() int { return len(t.words) / attachedWords }

// Set stores entry i.
func (t AttachTable) Set(i int, x Attached) {
	w := t.words[i*attachedWords:][:attachedWords]
	w[0].Store(x.Addr)
	w[1].Store(x.Size)
	w[2].Store(uint64(x.Off))
}

// Get loads entry i.
func (t AttachTable) Get(i int) Attached {
	w := t.words[i*attachedWords:][:attachedWords]
	return Attached{w[0].Load(), w[1].Load(), int64(w[2].Load())}
}

// Find returns the entry that holds n bytes from an address on, among the first count, and
// false if there is none. If several do together, which lie side by side, it is what they
// are together: mixed says that it is not in the segment as a whole, although a part of it
// is.
func (t AttachTable) Find(count int, addr, n uint64) (x Attached, mixed, ok bool) {
	lo, hi := 0, min(count, t.Cap())
	for lo < hi { // the first that begins behind addr
		mid := int(uint(lo+hi) / 2)
		if t.Get(mid).Addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return x, false, false
	}
	x = t.Get(lo - 1)
	at := addr - x.Addr
	if planted.AttachByOne {
		n--
	}
	if at > x.Size || n > math.MaxUint64-at { // while the table changes, sizes may be anything
		return x, false, false
	}
	for some := x.Off >= 0; n > x.Size-at; lo++ {
		if lo >= min(count, t.Cap()) {
			return x, false, false
		}
		next := t.Get(lo)
		if next.Addr != x.Addr+x.Size || next.Size == 0 || next.Size > math.MaxUint64-x.Size {
			return x, false, false
		}
		some = some || next.Off >= 0
		if x.Off < 0 || next.Off != x.Off+int64(x.Size) {
			x.Off = -1
		}
		x.Size += next.Size
		mixed = some && x.Off < 0
	}
	return x, mixed, true
}
