package node

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Backend is the shared memory that a Node works on, and the means to sleep on it and to wake
// other processes. It identifies processes by local index.
type Backend interface {
	Control() *shmfmt.Control
	// Segment maps the segment of process i.
	Segment(i int) (*shmfmt.Segment, error)
	// Sleep blocks while the own bell has the value seen.
	Sleep(bell *atomic.Uint32, seen uint32)
	// Wake wakes process i, whose bell has just been incremented. It fails if it cannot wake
	// that process.
	Wake(i int, bell *atomic.Uint32) error
	// Read copies from the memory of process i.
	Read(i int, door *shmfmt.Door, dst [][]byte, addr uint64) error
	// Write copies to the memory of process i.
	Write(i int, door *shmfmt.Door, src [][]byte, addr uint64) error
	// Heap is the own heap.
	Heap() *heap.Heap
	// View makes a view of the heap of process i.
	View(i int) View
	Close() error
}

// Node is the shared memory of a machine as one of its processes uses it. It implements
// fabric.Reader and fabric.Writer.
//
// Where a method does not say otherwise, the caller holds the engine's lock.
type Node struct {
	Doorbell
	name    string
	members []int   // job index by local index
	local   []int32 // local index by job index, -1 for processes elsewhere
	seg     *shmfmt.Segment
	peers   []*peer           // by local index, nil until the first use
	report  func(line string) // nil: nothing is told, or has been

	taker   Taker      // of offers; nil: none are taken
	offers  []offering // those of peers in offered
	offered []uint64   // bits of the bitmap whose peers are in offers
	head    shmfmt.OfferHead
	turns   uint32 // of PollOffers

	cores     Cores // nil: see ShareCores
	coreCount int

	dropped []bool        // by local index: Drop was called
	gone    []atomic.Bool // by job index: stored by Lose, loaded by Gone; and by C, so that it is in memory of records
	losing  *atomic.Bool  // lost is not empty; stored by Lose, loaded by Losing; and by C, as gone
	mu      sync.Mutex    // guards lost
	lost    []Loss
}

// New returns the node of local process me. members lists the job index of each local process, and
// size is the number of processes in the job. name is that of the fabric through its memory.
func New(name string, backend Backend, me int, members []int, size int) (*Node, error) {
	n := &Node{
		Doorbell: Doorbell{backend: backend, me: me, door: backend.Control().Door(me)},
		name:     name, members: members,
		local:   make([]int32, size),
		peers:   make([]*peer, len(members)),
		dropped: make([]bool, len(members)),
	}
	flags := offheap.OwnedBytes(n, (size+1)*int(unsafe.Sizeof(atomic.Bool{})))
	gone := unsafe.Slice((*atomic.Bool)(unsafe.Pointer(unsafe.SliceData(flags))), size+1)
	n.gone, n.losing = gone[:size:size], &gone[size]
	for i := range n.local {
		n.local[i] = -1
	}
	for i, j := range members {
		n.local[j] = int32(i)
	}
	seg, err := backend.Segment(me)
	if err != nil {
		return nil, err
	}
	n.seg = seg
	n.offered = make([]uint64, seg.ActiveWords())
	return n, nil
}

// Name returns the name of the fabric through the memory of the node: "shm" or "inproc".
func (n *Node) Name() string { return n.name }

// Control returns the segment that all processes of the node share.
func (n *Node) Control() *shmfmt.Control { return n.backend.Control() }

// OwnSegment returns the segment of this process.
func (n *Node) OwnSegment() *shmfmt.Segment { return n.seg }

// Me returns the local index of this process.
func (n *Node) Me() int { return n.me }

// Members returns the job index of each process of the node, by local index.
func (n *Node) Members() []int { return n.members }

// Locals returns the local index of each process of the job, -1 for those on other nodes.
func (n *Node) Locals() []int32 { return n.local }

// LocalIndex returns the local index of a process, -1 if it is on another node or of another job.
func (n *Node) LocalIndex(peer int) int {
	if uint(peer) >= uint(len(n.local)) {
		return -1
	}
	return int(n.local[peer])
}

// Close ends a Sleep in progress and all later ones. The memory stays usable.
func (n *Node) Close() error {
	n.closed.Store(true)
	n.Wake()
	return n.backend.Close()
}

// Release frees the memory of a closed node on which nobody sleeps, when the process continues
// without it. If watched is set, calls may still be in progress or follow: they find empty memory.
func (n *Node) Release(watched bool) error {
	if r, ok := n.backend.(interface{ Release(bool) error }); ok {
		return r.Release(watched)
	}
	return nil
}
