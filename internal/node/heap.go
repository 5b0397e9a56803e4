package node

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/heap"
)

// Heap returns the heap of this process, which the others of the node can map.
func (n *Node) Heap() *heap.Heap { return n.backend.Heap() }

// Alloc allocates a block in the own heap: size zero bytes, at an address that is a multiple of
// heap.Align and of align (a power of two, or less than heap.Align). The others of the node find the
// block at off, through a View. Callable from any goroutine, as are Free and View.
func (n *Node) Alloc(size, align int64) (off int64, mem []byte, err error) {
	return n.backend.Heap().Alloc(size, align)
}

// Free frees the block of the own heap at off.
func (n *Node) Free(off int64) error { return n.backend.Heap().Free(off) }

// View is the part of the heap of a process that one user, such as a window, has mapped. Any
// goroutine may call its methods.
//
// Only memory that views have requested is accessible. So a tool that reads all memory of a
// process, such as a debugger, does not allocate pages that nobody uses.
type View interface {
	// Memory returns size bytes of the heap from off. They belong to a block until its process
	// frees the block. After that their content is undefined, but accesses do not fault before
	// Close. The error is of class RMARange if the range is not in the heap. Any other error
	// means that this process cannot map that part of the heap, and needs another way to reach
	// the block.
	Memory(off, size int64) ([]byte, error)
	// Close releases all memory that Memory has returned: the caller guarantees that nobody
	// accesses it any more. The view can be used again.
	Close()
}

// View returns a view of the heap of a peer, or of this process.
func (n *Node) View(peer int) View {
	if peer < 0 || peer >= len(n.local) || n.local[peer] < 0 {
		return noView{n.name, peer}
	}
	return n.backend.View(int(n.local[peer]))
}

// noView is the view of a heap on another node.
type noView struct {
	name string
	peer int
}

func (v noView) Memory(_, _ int64) ([]byte, error) {
	return nil, fmt.Errorf("%s: heap of process %d, which is not on this node: %w", v.name, v.peer, fabric.ErrUnsupported)
}

func (v noView) Close() {}
