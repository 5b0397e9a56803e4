package heap

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// looseRoom is the range of offsets of a heap whose blocks are each somewhere, in
	// bytes: more than any machine has memory, so that only memory limits it.
	looseRoom = 1 << 56
	// ownMapping is the size in bytes from which a private block is a mapping: the
	// collector need not count it, and the system has it back at once.
	ownMapping = 64 << 10
)

// Private makes a heap of memory of this process alone: mappings for large blocks,
// where there are any, and else the Go heap.
func Private() *Heap { return newHeap(newLoose(true), NewBudget()) }

// Loose makes a heap of memory of the Go heap.
func Loose() *Heap { return newHeap(newLoose(false), NewBudget()) }

// loose is a backing without a memory of its own: each block is a slice.
type loose struct {
	mappings bool            // large blocks are mappings
	places   extents         // of the blocks, by address
	blocks   map[int64]place // by offset
}

// place is where a block is.
type place struct {
	at      int64  // its address
	mapping []byte // to be unmapped; nil for memory of Go
}

func newLoose(mappings bool) *loose { return &loose{mappings: mappings, blocks: map[int64]place{}} }

func (l *loose) begin() (size, base int64, err error) { return looseRoom, 0, nil }

func (l *loose) commit(b *extent, _ span, align int64, budget *Budget) ([]byte, error) {
	if l.mappings && b.size >= ownMapping {
		m, err := sys.Anonymous(b.size + max(0, align-int64(os.Getpagesize())))
		if err == nil {
			mem := aligned(m, b.size, align)
			err = budget.spend(b.size, func(done, n int64) error { return sys.Populate(mem[done : done+n]) })
			if err != nil {
				sys.Unmap(m)
				return nil, err
			}
			return l.enter(b.off, mem, m), nil
		}
	}
	// The collector takes memory of Go as it is touched: nothing is to be made.
	if err := budget.spend(b.size, func(_, _ int64) error { return nil }); err != nil {
		return nil, err
	}
	return l.enter(b.off, aligned(make([]byte, b.size+align), b.size, align), nil), nil
}

func (l *loose) enter(off int64, mem, mapping []byte) []byte {
	at := int64(uintptr(unsafe.Pointer(&mem[0])))
	l.places.insert(&extent{off: at, size: int64(len(mem)), home: off})
	l.blocks[off] = place{at, mapping}
	return mem
}

// aligned is the first size bytes of m whose address is a multiple of align.
func aligned(m []byte, size, align int64) []byte {
	skip := -int64(uintptr(unsafe.Pointer(&m[0]))) & (align - 1)
	return m[skip : skip+size : skip+size]
}

func (l *loose) drop(b *extent, _ span) error {
	p := l.blocks[b.off]
	delete(l.blocks, b.off)
	l.places.remove(p.at)
	if p.mapping == nil {
		return nil
	}
	if err := sys.Unmap(p.mapping); err != nil {
		return &class.Error{Class: class.Intern, Text: fmt.Sprintf("giving %d bytes of memory back: %v", b.size, err), Cause: err}
	}
	return nil
}

func (l *loose) offset(addr uintptr) (off int64, ok bool) {
	e := l.places.at(int64(addr))
	if e == nil || int64(addr) >= e.end() {
		return 0, false
	}
	return e.home + int64(addr) - e.off, true
}
