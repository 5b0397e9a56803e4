package shmfmt

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// HandleSlot describes the memory of one memory handle to the other processes of the node. Slots
// never move and are not freed while the window exists, so that a process that has found a slot can
// check its key before each operation: the key of an empty slot, or of a slot that is used again,
// is another one.
//
// The owner stores the key after the other words, and stores 0 to the key before it changes any of
// them. A reader loads the key before and after the other words.
type HandleSlot struct {
	key             atomic.Uint64 // random for each handle; 0: none
	addr, size, off atomic.Uint64
	_               [Line - 32]byte
}

// Handled is the content of a slot: the memory of a handle.
type Handled struct {
	Addr uint64 // in its process
	Size uint64 // in bytes
	Off  int64  // in the heap of its process, -1 if it is not in the heap
}

// Key returns the word that an origin checks before each operation.
func (s *HandleSlot) Key() *atomic.Uint64 { return &s.key }

// Fill fills an empty slot.
func (s *HandleSlot) Fill(key uint64, x Handled) {
	s.addr.Store(x.Addr)
	s.size.Store(x.Size)
	s.off.Store(uint64(x.Off))
	s.key.Store(key) // pairs with the loads in Read, and before operations
}

// Clear empties the slot.
func (s *HandleSlot) Clear() { s.key.Store(0) } // pairs as in Fill

// Read returns the content of the slot if its key is key, otherwise false.
func (s *HandleSlot) Read(key uint64) (x Handled, ok bool) {
	if key == 0 || s.key.Load() != key {
		return x, false
	}
	x = Handled{s.addr.Load(), s.size.Load(), int64(s.off.Load())}
	return x, s.key.Load() == key
}

const (
	// handleFirst is the number of slots in the first chunk of a handle table: a page.
	handleFirst = 64
	// handleChunks is the largest number of chunks, each with twice the slots of the one before:
	// 2^30 handles at a time.
	handleChunks = 24
	// HandleSlots is the largest number of slots of a table.
	HandleSlots = handleFirst<<handleChunks - handleFirst
)

// HandleDir is the directory of a handle table. For each chunk it contains 1 + the offset in the
// heap of its process, 0 if the chunk does not exist.
type HandleDir struct{ chunks *[handleChunks]atomic.Uint64 }

// HandleDirSize is the size of a HandleDir in bytes.
const HandleDirSize = handleChunks * 8

// OpenHandleDir returns the directory in mem.
func OpenHandleDir(mem []byte) HandleDir {
	return HandleDir{(*[handleChunks]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(mem[:HandleDirSize])))}
}

// HandleChunk returns the chunk of slot i, the index of the slot in the chunk, and the size of the
// chunk in bytes.
func HandleChunk(i int) (chunk, at int, size int64) {
	chunk = bits.Len(uint(i)+handleFirst) - bits.Len(handleFirst)
	first := handleFirst << chunk
	return chunk, i + handleFirst - first, int64(first) * Line
}

// Chunk returns the entry of chunk i.
func (d HandleDir) Chunk(i int) *atomic.Uint64 { return &d.chunks[i] }

// OpenHandleSlot returns the slot in mem, which begins at a line.
func OpenHandleSlot(mem []byte) *HandleSlot {
	return (*HandleSlot)(unsafe.Pointer(unsafe.SliceData(mem[:Line])))
}
