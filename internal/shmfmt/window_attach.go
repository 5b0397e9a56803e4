package shmfmt

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

// Attached is memory that is attached to a dynamic window, as its process publishes it to the other
// processes of the node.
type Attached struct {
	Addr uint64 // in its process
	Size uint64 // in bytes
	Off  int64  // in the heap of its process, -1 if it is not in the heap
}

// attachedWords is the length of an entry: address, size, offset.
const attachedWords = 3

// AttachTable lists what a process has attached to a dynamic window, sorted by address. It is an
// array of entries in the process's memory; the control block contains its offset and length. Only
// the process writes it, while TableVersion is odd. A reader loads word by word, and may see any
// values meanwhile.
type AttachTable struct{ words []atomic.Uint64 }

// AttachTableSize returns the size in bytes of a table of n entries.
func AttachTableSize(n int) int64 { return int64(n) * attachedWords * 8 }

// OpenAttachTable returns the table in mem, which begins at a line.
func OpenAttachTable(mem []byte) AttachTable {
	if len(mem) < 8 {
		return AttachTable{}
	}
	return AttachTable{unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[0])), len(mem)/8)}
}

// Cap returns the number of entries that the table has room for.
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

// Find returns the entry, among the first count, that contains n bytes from address addr, and false
// if there is none. If several adjacent entries contain the bytes together, it returns the union of
// these. mixed says that only a part of the union is in the heap.
func (t AttachTable) Find(count int, addr, n uint64) (x Attached, mixed, ok bool) {
	lo, hi := 0, min(count, t.Cap())
	for lo < hi { // finds the first entry that begins behind addr
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
	if at > x.Size || n > math.MaxUint64-at { // while the table changes, sizes may have any value
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
