package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/heap"
)

// Heap returns the heap of this process, which the others of the node can map.
func (f *Fabric) Heap() *heap.Heap { return f.node.Heap() }

// Alloc allocates a block in the own heap: size zero bytes, at an address that is a multiple
// of align (a power of two, at least heap.Align). The others of the node find the block at
// off, through a View. Callable from any goroutine, as are Free and View.
func (f *Fabric) Alloc(size, align int64) (off int64, mem []byte, err error) {
	return f.node.Heap().Alloc(size, align)
}

// Free frees the block of the own heap at off.
func (f *Fabric) Free(off int64) error { return f.node.Heap().Free(off) }

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
func (f *Fabric) View(peer int) View {
	if peer < 0 || peer >= len(f.local) || f.local[peer] < 0 {
		return noView{f.name, peer}
	}
	return f.node.View(f.local[peer])
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

// CanRead implements fabric.Reader: it reads the peer's probe once.
func (f *Fabric) CanRead(peer int) bool {
	o := f.out[peer]
	if o == nil {
		o = f.connect(peer)
	}
	if o.dead {
		return false
	}
	if o.read == unknown {
		o.read = denied
		d := o.door
		var got [len(d.Probe)]byte
		if d.Pid.Load() != 0 && f.node.Read(o.peer, d, [][]byte{got[:]}, d.ProbeAddr) == nil && got == d.Probe {
			o.read = granted
		}
	}
	return o.read == granted
}

// Read implements fabric.Reader.
func (f *Fabric) Read(peer int, dst [][]byte, addr uint64) error {
	o := f.out[peer]
	if o == nil || o.read != granted {
		return fmt.Errorf("shm: read of %d blocks from process %d: %w", len(dst), peer, fabric.ErrUnsupported)
	}
	return f.node.Read(o.peer, o.door, dst, addr)
}

// CanWrite implements fabric.Writer: it overwrites the peer's probe once with the value
// that it has read there.
func (f *Fabric) CanWrite(peer int) bool {
	if !f.CanRead(peer) {
		return false
	}
	o := f.out[peer]
	if o.write == unknown {
		o.write = denied
		probe := o.door.Probe
		if f.node.Write(o.peer, o.door, [][]byte{probe[:]}, o.door.ProbeAddr) == nil {
			o.write = granted
		}
	}
	return o.write == granted
}

// Write implements fabric.Writer. It needs no lock after CanWrite has returned true.
func (f *Fabric) Write(peer int, src [][]byte, addr uint64) error {
	o := f.out[peer]
	if o == nil || o.write != granted || f.Gone(peer) { // another process may have the id of a failed one
		return fmt.Errorf("shm: write of %d blocks to process %d: %w", len(src), peer, fabric.ErrUnsupported)
	}
	return f.node.Write(o.peer, o.door, src, addr)
}

// Process returns the process id of a peer for which CanWrite has returned true, and the flag
// that Gone loads. A caller that copies from and to the peer's memory without Read and Write
// needs both.
func (f *Fabric) Process(peer int) (pid int32, gone *atomic.Bool) {
	return f.out[peer].door.Pid.Load(), &f.gone[peer] // pairs with the store in Lose
}
