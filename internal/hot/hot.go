// Package hot is memory outside of the Go heap, for records that Go and C both read and write.
//
// The rules of cgo forbid C to keep an address in the Go heap, so what both sides touch while
// the program runs stands here: one record, which is the only copy for both. Layouts of such
// records belong to package shmfmt.
//
// The contract:
//
//   - Memory is zero when it is handed out, begins on a cache line, and is never unmapped.
//     Freeing makes it available for the next record of like size; until that is made its
//     contents stay, or are zero if it is long. So whoever holds a stale address reads a record,
//     though maybe another one, and does not fault. A reader that must know which one it is
//     compares a generation, such as that in the handle by which it has found the record.
//   - Of long memory only pages that somebody touches take space, also after it was freed: an
//     array with an element for each rank costs what is used of it.
//   - The garbage collector does not look into this memory: a record holds no pointer into the
//     Go heap unless the owner of the record keeps the target alive.
//   - The owner frees a record once, or has it freed when nothing reaches the owner any more
//     (Owned). What nobody frees stays for as long as the process runs.
//   - Under the race detector, and where the system has no anonymous mappings, the memory is
//     part of the Go heap, which the detector watches, and the arena keeps it reachable. Elsewhere
//     it never is: if no memory can be mapped this package panics, as the runtime ends a program
//     whose heap cannot grow.
package hot

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// line is the least size and the alignment of a block in bytes: two records share no line.
	line = 64
	// chunkSize is how many bytes are mapped at a time for blocks that are not long. Only pages
	// that are touched take memory.
	chunkSize = 64 << 10
	// longMin is the size in bytes from which on blocks are long: they have a mapping each.
	longMin = chunkSize
	// classes are the sizes of blocks: line times the powers of two.
	classes = 40
)

// arena hands out blocks. Blocks of a class are carved from a chunk once and then go back and
// forth between their users and the list of their class.
//
// Rejected: links between free blocks inside of them, which would overwrite what a stale reader
// finds there, and a mapping for each class, which would touch a page for each.
type arena struct {
	mu     sync.Mutex
	free   [classes][]unsafe.Pointer // the block freed last is used first, since caches have it
	rest   []byte                    // of the last chunk: not handed out yet
	chunks [][]byte                  // all memory there is
}

// shared is the arena of the OS process. What one MPI process writes into a record no other sees,
// as with the Go heap.
var shared arena

// New returns a zeroed T. T has no pointers into the Go heap (see the contract).
func New[T any]() *T {
	return (*T)(unsafe.Pointer(unsafe.SliceData(Bytes(int(unsafe.Sizeof(*new(T)))))))
}

// Free gives back what New has returned.
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

// FreeBytes gives back what Bytes has returned, which has its first length.
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

// class is the class of blocks for n bytes.
func class(n int) int { return bits.Len(uint(n-1) / line) }

// take is a block of a class, with what was left in it unless it is zero.
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

// carve is n bytes that have not been used before.
func (a *arena) carve(n int) unsafe.Pointer {
	if n >= longMin {
		b := a.grow(n)
		if !sys.Race {
			sys.Scatter(b)
		}
		return unsafe.Pointer(unsafe.SliceData(b))
	}
	if len(a.rest) < n {
		// What is left of the chunk before is lost: half of a chunk at most, and mostly pages
		// that nobody has touched.
		a.rest = a.grow(chunkSize)
	}
	p := unsafe.Pointer(unsafe.SliceData(a.rest))
	a.rest = a.rest[n:]
	return p
}

// grow is n more bytes.
func (a *arena) grow(n int) []byte {
	b, err := more(n)
	if err != nil {
		panic(fmt.Errorf("hot: no memory for records of this process: %w", err))
	}
	a.chunks = append(a.chunks, b)
	return b
}

// more is n bytes that are mapped, or under the race detector and where the system has no
// anonymous mappings of the Go heap.
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

// put takes a block back. One that is long becomes zero.
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
