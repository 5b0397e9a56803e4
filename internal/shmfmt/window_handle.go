package shmfmt

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// HandleSlot is what a process tells others of the node of memory that a memory handle
// names. Slots never move and are never given back while the window lives, so that who has
// found one can look at it before each operation: a slot that is empty, or somebody
// else's, has another key.
//
// The process stores what follows the key before the key, and 0 to the key before anything
// else is changed; a reader loads the key before and after the rest.
type HandleSlot struct {
	key             atomic.Uint64 // drawn at random for each handle; 0: none
	addr, size, off atomic.Uint64
	_               [Line - 32]byte
}

// Handled is what a slot tells: the memory as its process sees it.
type Handled struct {
	Addr uint64 // in its process
	Size uint64 // in bytes
	Off  int64  // in its process's segment, -1 if it is not there
}

// Key is the word to be looked at before each operation.
func (s *HandleSlot) Key() *atomic.Uint64 { return &s.key }

// Fill makes an empty slot tell of memory.
func (s *HandleSlot) Fill(key uint64, x Handled) {
	s.addr.Store(x.Addr)
	s.size.Store(x.Size)
	s.off.Store(uint64(x.Off))
	s.key.Store(key) // pairs with the loads in Read, and before operations
}

// Clear empties the slot.
func (s *HandleSlot) Clear() { s.key.Store(0) } // pairs as in Fill

// Read returns what the slot tells of key, false if that is not there.
func (s *HandleSlot) Read(key uint64) (x Handled, ok bool) {
	if key == 0 || s.key.Load() != key {
		return x, false
	}
	x = Handled{s.addr.Load(), s.size.Load(), int64(s.off.Load())}
	return x, s.key.Load() == key
}

const (
	// handleFirst is how many slots the first chunk of a handle table has: a page.
	handleFirst = 64
	// handleChunks is how many chunks there can be, each with twice the slots of the one
	// before: 2^30 handles at a time.
	handleChunks = 24
	// HandleSlots is how many slots a table can have.
	HandleSlots = handleFirst<<handleChunks - handleFirst
)

// HandleDir is the directory of a handle table: where in the heap of its process each chunk
// begins, plus 1; 0 before there is one.
type HandleDir struct{ chunks *[handleChunks]atomic.Uint64 }

// HandleDirSize is its size in bytes.
const HandleDirSize = handleChunks * 8

// OpenHandleDir returns the directory in mem.
func OpenHandleDir(mem []byte) HandleDir {
	return HandleDir{(*[handleChunks]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(mem[:HandleDirSize])))}
}

// HandleChunk is which chunk slot i is in, as which of its slots, and how large the chunk is
// in bytes.
func HandleChunk(i int) (chunk, at int, size int64) {
	chunk = bits.Len(uint(i)+handleFirst) - bits.Len(handleFirst)
	first := handleFirst << chunk
	return chunk, i + handleFirst - first, int64(first) * Line
}

// Chunk is the word that tells where a chunk is.
func (d HandleDir) Chunk(i int) *atomic.Uint64 { return &d.chunks[i] }

// OpenHandleSlot returns the slot in mem, which begins at a line.
func OpenHandleSlot(mem []byte) *HandleSlot {
	return (*HandleSlot)(unsafe.Pointer(unsafe.SliceData(mem[:Line])))
}
