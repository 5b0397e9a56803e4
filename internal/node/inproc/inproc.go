// Package inproc makes nodes of processes that are goroutines of one OS process: their
// shared memory is on the Go heap, where the race detector sees every access, and sleepers
// wait on Go channels. Tests can kill a process of it.
package inproc

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/heap"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// ErrKilled is the cause of Down for processes that World.Kill ended.
var ErrKilled = errors.New("killed")

// World is the memory that n processes share: all processes of a job, or those of one node.
type World struct {
	control  *shmfmt.Control
	sleepers []sleeper
	heaps    []*heap.Heap
	job      []int // by process: its index in the job
	size     int   // of the job

	mu       sync.Mutex // guards what follows
	segments []*shmfmt.Segment
	nodes    []*node.Node // nil until Open
	dead     []bool
}

// New makes the world of a job of n processes. Open opens each.
func New(n int) (*World, error) {
	job := make([]int, max(n, 0))
	for i := range job {
		job[i] = i
	}
	return NewNode(job, n)
}

// NewNode makes the world of the processes of one node in a job of size processes: job lists their
// indexes.
func NewNode(job []int, size int) (*World, error) {
	n := len(job)
	if n < 1 || n > shmfmt.MaxLocal {
		return nil, fmt.Errorf("inproc: world of %d processes, want 1 to %d", n, shmfmt.MaxLocal)
	}
	control, err := shmfmt.HeapControl(n)
	if err != nil {
		return nil, err
	}
	w := &World{
		control: control, sleepers: make([]sleeper, n), heaps: make([]*heap.Heap, n), job: job, size: size,
		segments: make([]*shmfmt.Segment, n), nodes: make([]*node.Node, n), dead: make([]bool, n),
	}
	for i := range w.sleepers {
		w.sleepers[i].token = make(chan struct{}, 1)
		w.heaps[i] = heap.Loose()
	}
	return w, nil
}

// Size returns the number of processes of the world.
func (w *World) Size() int { return len(w.sleepers) }

// Open returns the node of process i. It can be called once for each process. Others may have sent to
// it before.
func (w *World) Open(i int) (*node.Node, error) {
	if i < 0 || i >= w.Size() {
		return nil, fmt.Errorf("inproc: open of process %d in a world of %d", i, w.Size())
	}
	n, err := node.New("inproc", &memory{w, i}, i, w.job, w.size)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nodes[i] != nil {
		return nil, fmt.Errorf("inproc: process %d is already open", i)
	}
	w.nodes[i] = n
	for j, dead := range w.dead {
		if dead {
			w.lose(i, j)
		}
	}
	return n, nil
}

// Kill ends process i for the others: each delivers the frames that i had published,
// then Down with ErrKilled, and nothing after it. Process i itself may still run as a
// goroutine; it gets Down of all others, so that its calls return.
func (w *World) Kill(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead[i] {
		return
	}
	w.dead[i] = true
	for j, n := range w.nodes {
		if n != nil {
			w.lose(j, i)
		}
	}
}

// lose reports to process i that process dead has failed. To the dead process itself it
// reports that all others have failed. The caller holds w.mu.
func (w *World) lose(i, dead int) {
	if i != dead {
		w.nodes[i].Lose(w.job[dead], fmt.Errorf("inproc: process %d: %w", dead, ErrKilled))
		return
	}
	for j := range w.nodes {
		if j != i {
			w.nodes[i].Lose(w.job[j], fmt.Errorf("inproc: process %d itself: %w", i, ErrKilled))
		}
	}
}

func (w *World) segment(i int) (*shmfmt.Segment, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.segments[i] == nil {
		s, err := shmfmt.HeapSegment(i, w.Size())
		if err != nil {
			return nil, err
		}
		w.segments[i] = s
	}
	return w.segments[i], nil
}

// memory is the memory of a world as process me uses it. It implements node.Backend.
type memory struct {
	w  *World
	me int
}

func (m *memory) Control() *shmfmt.Control { return m.w.control }

func (m *memory) Segment(i int) (*shmfmt.Segment, error) { return m.w.segment(i) }

func (m *memory) Sleep(bell *atomic.Uint32, seen uint32) {
	m.w.sleepers[m.me].sleep(bell, seen)
}

func (m *memory) Wake(i int, _ *atomic.Uint32) error {
	m.w.sleepers[i].wake()
	return nil
}

// Read is unsupported: an address from a frame is never used as a pointer, and in one
// process the kernel cannot check it. Long messages take the generic path.
func (m *memory) Read(i int, _ *shmfmt.Door, dst [][]byte, _ uint64) error {
	return fmt.Errorf("inproc: read of %d blocks from process %d: %w", len(dst), i, fabric.ErrUnsupported)
}

// Write is unsupported, as Read is.
func (m *memory) Write(i int, _ *shmfmt.Door, src [][]byte, _ uint64) error {
	return fmt.Errorf("inproc: write of %d blocks to process %d: %w", len(src), i, fabric.ErrUnsupported)
}

func (m *memory) Heap() *heap.Heap { return m.w.heaps[m.me] }

// View returns the heap itself: blocks are slices.
func (m *memory) View(i int) node.View { return view{m.w.heaps[i]} }

type view struct{ *heap.Heap }

func (view) Close() {}

// Close frees nothing: other processes still use the memory, which the collector frees with the world.
func (m *memory) Close() error { return nil }

// sleeper is where one process sleeps on its doorbell. wake adds a token unless there is
// one already. sleep compares the bell after every token that it takes, so a stale token
// costs one iteration, and a bell that has been incremented always ends the sleep.
type sleeper struct {
	token chan struct{} // holds at most one token
}

// wake is called after the bell was incremented.
func (b *sleeper) wake() {
	select {
	case b.token <- struct{}{}:
	default: // the token was not taken yet: the sleeper that takes it sees the bell
	}
}

func (b *sleeper) sleep(bell *atomic.Uint32, seen uint32) {
	for bell.Load() == seen { // pairs with the Add before every wake
		<-b.token
	}
}
