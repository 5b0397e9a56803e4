// Package offheap allocates memory outside of the Go heap, for records that Go and C both read and write.
//
// The rules of cgo forbid C to keep an address in the Go heap. So what both sides use while the
// program runs is in records of this package, and both use the same copy. Package shmfmt defines the
// layouts of such records.
//
// The contract:
//
//   - Memory is zero when it is allocated, begins on a cache line, and is never unmapped. Free
//     makes it available for the next record of similar size. Until then its content remains, or
//     is zero if it is long. So a reader with a stale address reads some record, perhaps another
//     one, and does not fault. A reader that must know which record it reads compares a
//     generation, such as that in the handle by which it has found the record.
//   - Only the used pages of long memory take space, also after it was freed. So an array with an
//     element for each rank costs only the elements in use.
//   - The garbage collector does not scan this memory: a record contains no pointer into the Go
//     heap unless the owner of the record keeps the target alive.
//   - The owner frees a record once, or lets it be freed when nothing reaches the owner any more
//     (Owned). Other records remain as long as the process runs.
//   - Under the race detector, and where the system has no anonymous mappings, the memory is
//     part of the Go heap, which the detector watches, and the arena keeps it reachable. Elsewhere
//     it never is: if no memory can be mapped this package panics, as the runtime ends a program
//     whose heap cannot grow.
package offheap

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// line is the smallest size and the alignment of a block in bytes: no two records share a line.
	line = 64
	// chunkSize is how many bytes are mapped at a time for blocks that are not long. Only pages
	// that are used take memory.
	chunkSize = 64 << 10
	// longMin is the size in bytes from which on blocks are long: they have a mapping each.
	longMin = chunkSize
	// classes are the sizes of blocks: line times the powers of two.
	classes = 40
)

// arena allocates blocks. A block is carved from a chunk once; after it is freed it is in the list of
// its class until it is allocated again.
//
// Rejected: links between free blocks inside of the blocks, since they would overwrite what a stale
// reader reads; and a mapping for each class, since each would take at least a page.
type arena struct {
	mu     sync.Mutex
	free   [classes][]unsafe.Pointer // the block freed last is used first, since caches have it
	rest   []byte                    // of the last chunk: not allocated yet
	chunks [][]byte                  // all memory of the arena
}

// shared is the arena of the process of the operating system. MPI processes that are goroutines share
// it as they share the Go heap, but no records in it.
var shared arena

// New returns a zeroed T. T contains no pointers into the Go heap (see the contract).
func New[T any]() *T {
	return (*T)(unsafe.Pointer(unsafe.SliceData(Bytes(int(unsafe.Sizeof(*new(T)))))))
}

// Free frees what New has returned.
func Free[T any](p *T) {
	shared.put(unsafe.Pointer(p), class(int(unsafe.Sizeof(*p))))
}

// Bytes returns n zeroed bytes, n > 0, for records whose length is not known to the compiler.
func Bytes(n int) []byte {
	p, zero := shared.take(class(n))
	b := unsafe.Slice((*byte)(p), n)
	if !zero {
		clear(b)
	}
	return b
}

// FreeBytes frees what Bytes has returned, with its first length.
func FreeBytes(b []byte) { shared.put(unsafe.Pointer(unsafe.SliceData(b)), class(len(b))) }

// Holds reports whether p points into memory of this package, free or not.
func Holds(p unsafe.Pointer) bool {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, c := range shared.chunks {
		if at := uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(c))); at < uintptr(len(c)) {
			return true
		}
	}
	return false
}

// class returns the class of blocks for n bytes.
func class(n int) int { return bits.Len(uint(n-1) / line) }

// take returns a block of a class, with its old content unless zero is true.
func (a *arena) take(class int) (p unsafe.Pointer, zero bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.free[class]
	if last := len(list) - 1; last >= 0 {
		p := list[last]
		a.free[class] = list[:last]
		return p, line<<class >= longMin
	}
	return a.carve(line << class), true
}

// carve returns n bytes that have not been used before.
func (a *arena) carve(n int) unsafe.Pointer {
	if n >= longMin {
		b := a.grow(n)
		if !sys.Race {
			sys.Scatter(b)
		}
		return unsafe.Pointer(unsafe.SliceData(b))
	}
	if len(a.rest) < n {
		// The rest of the last chunk is not used any more: at most half of a chunk, and mostly
		// pages that take no memory.
		a.rest = a.grow(chunkSize)
	}
	p := unsafe.Pointer(unsafe.SliceData(a.rest))
	a.rest = a.rest[n:]
	return p
}

// grow returns n more bytes.
func (a *arena) grow(n int) []byte {
	b, err := more(n)
	if err != nil {
		panic(fmt.Errorf("hot: no memory for records of this process: %w", err))
	}
	a.chunks = append(a.chunks, b)
	return b
}

// more returns n bytes of a new mapping. Under the race detector, and where the system has no anonymous
// mappings, they are of the Go heap.
func more(n int) ([]byte, error) {
	if !sys.Race {
		b, err := sys.Anonymous(int64(n))
		if !errors.Is(err, errors.ErrUnsupported) {
			return b, err
		}
	}
	b := make([]byte, n+line)
	return b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%line:][:n], nil
}

// put frees a block. A long block becomes zero.
func (a *arena) put(p unsafe.Pointer, class int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := line << class; n >= longMin {
		if b := unsafe.Slice((*byte)(p), n); sys.Race || sys.Discard(b) != nil {
			clear(b)
		}
	}
	a.free[class] = append(a.free[class], p)
}
