//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// memory is the shared memory of this node. The launcher creates each segment, zero and
// sparse, at the first request, and keeps the descriptors. So any process can map the segment
// of any other without its help, and the launcher can read the memory of a process that has
// failed.
type memory struct {
	shared bool  // the job's fabric wants segments
	ranks  []int // of this node, ascending
	notes  *notes

	mu   sync.Mutex
	made map[int]*os.File
}

// segment returns the descriptor of a rank's segment or bell, or of the node's control segment or
// notes.
func (m *memory) segment(which int) (*os.File, error) {
	bell, isBell := boot.BellRank(which)
	var name string
	var size, heap int64
	n := len(m.ranks)
	switch {
	case which == boot.NotesSegment && m.notes.file != nil:
		return m.notes.file, nil
	case which == boot.NotesSegment:
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

// note describes what rank waits for, or waited for when it died; "" if nothing.
func (m *memory) note(rank int) string { return m.notes.last(rank) }

// printable removes characters that cannot be shown in one line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}

func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.made {
		f.Close()
	}
	m.notes.close()
}
