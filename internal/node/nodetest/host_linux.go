package nodetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// HeapSize is the size of the heaps in bytes: more than memory, if it is all used.
const HeapSize = 64 << 30

// Host plays the launcher of one node: it holds the shared memory.
type Host struct {
	N             int
	Oversubscribe bool         // the node has so few cores that it is oversubscribed
	Bells         []*os.File   // by rank, if oversubscribed
	KeepBells     bool         // a process that asks for the bell of another rank gets no descriptor
	Files         []*os.File   // by rank + 1; the control segment first
	Nodes         []*node.Node // by rank, after Start

	mu    sync.Mutex // guards what follows: all processes ask the host
	asked int        // how often processes have asked for the bell of another rank
	rung  []int      // ranks that the host was asked to wake
}

// New makes the host of n processes.
func New(t testing.TB, n int) *Host {
	t.Helper()
	h := &Host{N: n}
	for rank := -1; rank < n; rank++ {
		size, heap := shmfmt.HeapStart(n), int64(HeapSize)
		if rank < 0 {
			size, heap = shmfmt.ControlSize(n), 0
		}
		f, err := sys.Sparse(fmt.Sprint("halo-test-", rank), size, heap, shmfmt.HeapUnit)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		h.Files = append(h.Files, f)
	}
	return h
}

// NewOversubscribed is New for an oversubscribed node.
func NewOversubscribed(t testing.TB, n int) *Host {
	t.Helper()
	h := New(t, n)
	h.Oversubscribe = true
	for range n {
		f, err := sys.NewBellFile()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		h.Bells = append(h.Bells, f)
	}
	return h
}

// Start opens the nodes of all ranks. Each of them maps the shared memory for itself.
func (h *Host) Start(t testing.TB) []*node.Node {
	t.Helper()
	for rank := range h.N {
		h.Nodes = append(h.Nodes, h.Open(t, rank))
	}
	return h.Nodes
}

// Open opens the node of one rank.
func (h *Host) Open(t testing.TB, rank int) *node.Node {
	t.Helper()
	n, err := node.Open(&Process{Host: h, Rank: rank})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return // somebody may still use the memory
		}
		if err := n.Release(false); err != nil {
			t.Error(err)
		}
	})
	return n
}

// Asked returns how often processes have asked for the bell of another rank.
func (h *Host) Asked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// Rung returns the ranks that processes have asked the host to wake.
func (h *Host) Rung() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.rung)
}

// Segment maps the segment of a rank for the test itself.
func (h *Host) Segment(t testing.TB, rank int) []byte {
	t.Helper()
	mem, err := sys.Map(h.Files[rank+1], shmfmt.SegmentSize(h.N))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Unmap(mem) })
	return mem
}

// Process is the connection of one rank to the host.
type Process struct {
	Host *Host
	Rank int
}

// Job implements boot.Boot, as the other methods do.
func (p *Process) Job() *boot.Job {
	local, cores := make([]int, p.Host.N), 2
	if p.Host.Oversubscribe {
		cores = -1
	}
	for i := range local {
		local[i] = i
	}
	return &boot.Job{ID: "test", Rank: p.Rank, Size: p.Host.N, Local: local, Fabric: "shm", Cores: cores}
}

func (p *Process) Segment(rank int) (*os.File, error) {
	var f *os.File
	bell, isBell := boot.BellRank(rank)
	if isBell && bell != p.Rank {
		p.Host.mu.Lock()
		p.Host.asked++
		p.Host.mu.Unlock()
	}
	switch {
	case isBell && bell != p.Rank && p.Host.KeepBells:
		return nil, syscall.EMFILE
	case isBell && bell < len(p.Host.Bells):
		f = p.Host.Bells[bell]
	case rank >= -1 && rank < p.Host.N:
		f = p.Host.Files[rank+1]
	default:
		return nil, fmt.Errorf("segment of rank %d of %d", rank, p.Host.N)
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "segment"), nil
}

func (p *Process) Ring(rank int) error {
	p.Host.mu.Lock()
	p.Host.rung = append(p.Host.rung, rank)
	p.Host.mu.Unlock()
	if rank >= len(p.Host.Bells) {
		return fmt.Errorf("no bell of rank %d", rank)
	}
	return sys.RingBell(p.Host.Bells[rank])
}

func (p *Process) Spawn(context.Context, *boot.Spawn) (*boot.Spawned, error) {
	return nil, errors.ErrUnsupported
}
func (p *Process) Init() error          { return nil }
func (p *Process) InUse(bool) error     { return nil }
func (p *Process) Publish([]byte) error { return nil }
func (p *Process) Lookup(context.Context, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
func (p *Process) Exchange([]byte) ([][]byte, error) { return nil, errors.ErrUnsupported }
func (p *Process) Finalize() error                   { return nil }
func (p *Process) Abort(code int, reason string)     { panic(fmt.Sprint(code, reason)) }
func (p *Process) Lost() <-chan struct{}             { return nil }
