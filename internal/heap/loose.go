package heap

import (
	"errors"
	"os"
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// looseRange is the range of offsets of a heap whose blocks are separate, in bytes: more
	// than the memory of any machine, so that only memory limits it.
	looseRange = 1 << 56
	// ownMapping is the size in bytes from which a private block is a mapping of its own, whose
	// memory the system gets back at once. Shorter blocks are memory of package offheap.
	ownMapping = 64 << 10
)

// Private returns a heap of memory of this process alone. It is outside of the Go heap where the system
// permits it, since C programs and the C library access it.
func Private() *Heap { return newHeap(&loose{mappings: true}, NewBudget()) }

// Loose returns a heap whose blocks are on the Go heap.
func Loose() *Heap { return newHeap(&loose{}, NewBudget()) }

// loose is a backing in which each block is memory of its own, not a part of one mapping.
type loose struct {
	mappings bool    // blocks are outside of the Go heap
	places   extents // of the blocks, by address
}

func (l *loose) begin() (size, base int64, err error) { return looseRange, 0, nil }

func (l *loose) commit(b *extent, _ span, align int64, budget *Budget) error {
	if l.mappings && b.size+align >= ownMapping {
		m, err := sys.Anonymous(b.size + max(0, align-int64(os.Getpagesize())))
		if err == nil {
			mem := aligned(m, b.size, align)
			err = budget.spend(b.size, func(done, n int64) error { return sys.Populate(mem[done : done+n]) })
			if err != nil {
				sys.Unmap(m)
				return err
			}
			b.mem, b.mapping = mem, m
			return nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	// Pages of the Go heap and of package offheap are allocated when they are used; some are already.
	if err := budget.spend(b.size, func(_, _ int64) error { return nil }); err != nil {
		return err
	}
	raw := b.size + align
	if l.mappings && raw < ownMapping {
		b.mapping, b.recycled = offheap.Bytes(int(raw)), true
		b.mem = aligned(b.mapping, b.size, align)
		return nil
	}
	b.mem = aligned(make([]byte, raw), b.size, align)
	return nil
}

func address(mem []byte) int64 { return int64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

func (l *loose) found(b *extent) {
	l.places.insert(&extent{off: address(b.mem), size: b.size, home: b.off})
}

func (l *loose) lost(b *extent) { l.places.remove(address(b.mem)) }

// aligned returns the first size bytes of m whose address is a multiple of align.
func aligned(m []byte, size, align int64) []byte {
	skip := -address(m) & (align - 1)
	return m[skip : skip+size : skip+size]
}

func (l *loose) drop(b *extent, _ span) error {
	switch {
	case b.recycled:
		offheap.FreeBytes(b.mapping)
	case b.mapping != nil:
		return sys.Unmap(b.mapping)
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
