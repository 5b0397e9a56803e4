// Package store allocates the memory of windows and of AllocMem. If there is a heap that the other
// processes of the node can map, the memory comes from that heap, so that they access it directly;
// otherwise it is memory of this process alone.
package store

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node"
)

// Align is the alignment of every block in bytes.
const Align = heap.Align

// Store allocates memory of one process. Any goroutine may call it, with the engine's lock or
// without.
type Store struct {
	heap   *heap.Heap
	mapped bool // others can map the heap
}

// Block is allocated memory.
type Block struct {
	Mem []byte
	Off int64 // in the process's heap, as node.View.Memory takes it; -1 if others cannot map it
}

// New returns the store of the process that node belongs to. node is nil if the process shares no memory.
func New(node *node.Node) *Store {
	if node == nil {
		return &Store{heap: heap.Private()}
	}
	return &Store{heap: node.Heap(), mapped: true}
}

// Alloc allocates size zero bytes at an address that is a multiple of Align and of align, which is a
// power of two or less than Align. A block of 0 bytes has an address of its own too. The error is of
// class Arg if size is negative or align is none of these, otherwise of class NoMem.
func (s *Store) Alloc(size, align int64) (Block, error) {
	off, mem, err := s.heap.Alloc(size, align)
	if err != nil {
		return Block{}, err
	}
	if !s.mapped {
		off = -1
	}
	return Block{mem, off}, nil
}

// Free frees the block that begins where mem does. The error is of class Base if no live block
// begins there.
func (s *Store) Free(mem []byte) error {
	off, ok := s.heap.Base(mem)
	if !ok {
		return class.Errorf(class.Base, "no memory that was allocated begins at %p, or it was freed before", unsafe.SliceData(mem))
	}
	return s.heap.Free(off)
}

// Live returns the number of live blocks, and the number of bytes that they take.
func (s *Store) Live() (blocks int, bytes int64) { return s.heap.Live() }

// Release frees all blocks, when the process continues without the store. If others can map the heap,
// Release does nothing: the node frees that heap.
func (s *Store) Release() error {
	if s.mapped {
		return nil
	}
	return s.heap.Release()
}

// Find returns the offset of mem in the heap, if mem is part of a live block that others can map.
func (s *Store) Find(mem []byte) (off int64, ok bool) {
	if !s.mapped {
		return 0, false
	}
	return s.heap.Find(mem)
}
