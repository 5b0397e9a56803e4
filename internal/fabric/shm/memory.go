package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/heap"
)

// Heap is the memory of this process that the others of the node can map.
func (f *Fabric) Heap() *heap.Heap { return f.node.Heap() }

// Alloc makes a block of the own heap: size bytes, zero, at an address that is a
// multiple of align (a power of two, and heap.Align at least). The others of the node find
// it at off, by a View. Callable from any goroutine, as are Free and View.
func (f *Fabric) Alloc(size, align int64) (off int64, mem []byte, err error) {
	return f.node.Heap().Alloc(size, align)
}

// Free takes back the block of the own heap at off.
func (f *Fabric) Free(off int64) error { return f.node.Heap().Free(off) }

// View is what one user, a window say, has mapped of the heap of a process. Any goroutine
// may call its methods.
//
// Only what views have asked for can be accessed, so that who walks through all memory of a
// process does not make pages that nobody uses.
type View interface {
	// Memory is size bytes from off on of the heap. They are those of a block as long as
	// its process has not freed it; after that they may be anything, but are no fault before
	// the view is closed. The error is of class RMARange for what is not of the heap; any other
	// means that this process cannot map the heap so far, and has to reach the block in
	// another way.
	Memory(off, size int64) ([]byte, error)
	// Close gives up what Memory has returned: nobody accesses it any more, at the latest
	// when something is freed by which it could be found. The view can be used again.
	Close()
}

// View makes a view of the heap of a peer, or of this process.
func (f *Fabric) View(peer int) View {
	if peer < 0 || peer >= len(f.local) || f.local[peer] < 0 {
		return noView{f.name, peer}
	}
	return f.node.View(f.local[peer])
}

// noView is the view of a heap that is elsewhere.
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
	if o.read == untried {
		o.read = unable
		d := o.door
		var got [len(d.Probe)]byte
		if d.Pid.Load() != 0 && f.node.Read(o.peer, d, [][]byte{got[:]}, d.ProbeAddr) == nil && got == d.Probe {
			o.read = able
		}
	}
	return o.read == able
}

// Read implements fabric.Reader.
func (f *Fabric) Read(peer int, dst [][]byte, addr uint64) error {
	o := f.out[peer]
	if o == nil || o.read != able {
		return fmt.Errorf("shm: read of %d blocks from process %d: %w", len(dst), peer, fabric.ErrUnsupported)
	}
	return f.node.Read(o.peer, o.door, dst, addr)
}

// CanWrite implements fabric.Writer: it writes the peer's probe once, which it has
// found there, over itself.
func (f *Fabric) CanWrite(peer int) bool {
	if !f.CanRead(peer) {
		return false
	}
	o := f.out[peer]
	if o.write == untried {
		o.write = unable
		probe := o.door.Probe
		if f.node.Write(o.peer, o.door, [][]byte{probe[:]}, o.door.ProbeAddr) == nil {
			o.write = able
		}
	}
	return o.write == able
}

// Write implements fabric.Writer. Once CanWrite has said yes, it needs no lock.
func (f *Fabric) Write(peer int, src [][]byte, addr uint64) error {
	o := f.out[peer]
	if o == nil || o.write != able || f.Gone(peer) { // the number of a dead process may be another's
		return fmt.Errorf("shm: write of %d blocks to process %d: %w", len(src), peer, fabric.ErrUnsupported)
	}
	return f.node.Write(o.peer, o.door, src, addr)
}

// Process is the process of a peer for which CanWrite has said yes: its number, and what Gone
// loads. Who copies from and to its memory in other ways than by Read and Write needs both.
func (f *Fabric) Process(peer int) (pid int32, gone *atomic.Bool) {
	return f.out[peer].door.Pid.Load(), &f.gone[peer] // pairs with the store in Lose
}
