//go:build unix

// Package segment makes the memory that the processes of a node share, for whoever serves them: Halo's
// launcher and its agents, or, under a job engine, one of the processes.
package segment

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// Memory is the shared memory of this node. Its owner creates each segment, zero and sparse, at the
// first request, and keeps the descriptors. So any process can map the segment of any other without
// its help, and the owner can read the memory of a process that has failed.
type Memory struct {
	shared bool  // the processes communicate by shared memory
	ranks  []int // of this node, ascending
	notes  *Notes

	mu      sync.Mutex
	made    map[int]*os.File
	adopted bool // notes have the memory of an earlier owner
}

// New returns the memory of the processes with these ranks, in ascending order. shared tells whether
// they communicate by shared memory. It takes over the notes.
func New(shared bool, ranks []int, notes *Notes) *Memory {
	return &Memory{shared: shared, ranks: ranks, notes: notes, made: map[int]*os.File{}}
}

// Notes returns the wait notes of the processes.
func (m *Memory) Notes() *Notes { return m.notes }

// Segment returns the descriptor of a rank's segment or bell, or of the node's control segment or
// notes. The caller must not close it.
func (m *Memory) Segment(which int) (*os.File, error) {
	bell, isBell := boot.BellRank(which)
	var name string
	var size, heap int64
	n := len(m.ranks)
	switch {
	case which == boot.NotesSegment:
		if f := m.notes.shared(); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("wait notes have no shared memory here: %w", errors.ErrUnsupported)
	case !m.shared:
		return nil, fmt.Errorf("a job over tcp has no segments: %w", errors.ErrUnsupported)
	case which == boot.ControlSegment:
		name, size = "halo-control", shmfmt.ControlSize(n)
	case slices.Contains(m.ranks, which):
		name, size = fmt.Sprintf("halo-%d", which), shmfmt.HeapStart(n)
		heap = shmfmt.HeapSize(int64(sys.PhysicalMemory()), sys.AddressSpace(), n)
	case isBell && slices.Contains(m.ranks, bell):
	case isBell:
		return nil, fmt.Errorf("no bell of rank %d among the %d ranks of this host", bell, n)
	default:
		return nil, fmt.Errorf("no segment %d among the %d ranks of this host", which, n)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.made[which]; f != nil {
		return f, nil
	}
	var f *os.File
	var err error
	if isBell {
		f, err = sys.NewBellFile()
	} else {
		f, err = sys.Sparse(name, size, heap, shmfmt.HeapUnit)
	}
	if err != nil {
		return nil, err
	}
	m.made[which] = f
	return f, nil
}

// Give takes over the descriptor of memory that an earlier owner has made; which is as for Segment. If this
// owner has such memory already, it keeps it and closes f. Only notes are replaced, once.
func (m *Memory) Give(which int, f *os.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case which == boot.NotesSegment && !m.adopted:
		m.adopted = true
		m.notes.adopt(f)
	case which == boot.NotesSegment || m.made[which] != nil:
		f.Close()
	default:
		m.made[which] = f
	}
}

// Close releases the descriptors. Processes that have mapped the memory keep it.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.made {
		f.Close()
	}
	m.notes.Close()
}
