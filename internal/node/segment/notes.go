//go:build unix

package segment

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// NotesName is the name of the memory of notes in /proc, by which halo ps finds jobs.
const NotesName = "halo-notes"

// Notes is the memory of the wait notes of this node, which its owner and the processes write: see
// shmfmt.Note. It exists before the first process starts, so that halo ps finds the job from then on.
type Notes struct {
	ranks []int // of this host: the i-th note is that of ranks[i]

	mu   sync.Mutex // held during each access, because adopt replaces the memory
	file *os.File   // the file that processes map; nil if the system has no such memory
	mem  noteMemory
	old  *os.File // what file was before adopt; open until Close, because a session may be sending it
}

// noteMemory is what notes are read from and written to.
type noteMemory interface {
	io.ReaderAt
	io.WriterAt
}

// NewNotes makes the notes of the ranks of a job on this host. If the system has no shared
// memory for them, the job runs without, and its processes write none.
func NewNotes(h *shmfmt.NotesHeader, ranks []int) *Notes {
	h.Launcher, h.Local = os.Getpid(), len(ranks)
	size := shmfmt.NotesMemory(len(ranks))
	n := &Notes{ranks: ranks, mem: make(ownMemory, size)}
	if file, err := sys.Memfd(NotesName, size); err == nil {
		n.file, n.mem = file, file
	}
	// A write to either kind of memory does not fail, because the space is allocated.
	shmfmt.WriteNotes(n.mem, h, ranks)
	return n
}

// adopt replaces the memory by that of an earlier owner. It copies there what this owner has noted of
// processes that have started already.
func (n *Notes) adopt(f *os.File) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f.WriteAt(shmfmt.NotesHolder(os.Getpid()), shmfmt.NotesHolderAt)
	for i, rank := range n.ranks {
		v, err := shmfmt.ReadNote(n.mem, i)
		if err != nil || v.Pid == 0 {
			continue
		}
		f.WriteAt(shmfmt.NoteStarted(rank, v.Pid), n.at(rank))
		if v.InC {
			f.WriteAt(shmfmt.NoteInC(), n.at(rank)+shmfmt.NoteLanguage)
		}
	}
	n.old, n.file, n.mem = n.file, f, f
}

// at returns the offset of the note of a rank.
func (n *Notes) at(rank int) int64 { return shmfmt.NotesSize(slices.Index(n.ranks, rank)) }

// write writes b at an offset in the note of a rank.
func (n *Notes) write(b []byte, rank int, at int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mem.WriteAt(b, n.at(rank)+at)
}

// Started notes that a rank is process pid.
func (n *Notes) Started(rank, pid int) { n.write(shmfmt.NoteStarted(rank, pid), rank, 0) }

// InC notes that the program of a rank uses the C names of calls.
func (n *Notes) InC(rank int) { n.write(shmfmt.NoteInC(), rank, shmfmt.NoteLanguage) }

// Ended notes how the process of a rank has ended.
func (n *Notes) Ended(rank int, s syscall.WaitStatus) {
	signal := 0
	if s.Signaled() {
		signal = int(s.Signal())
	}
	n.write(shmfmt.NoteEnded(s.ExitStatus(), signal), rank, shmfmt.NoteEnd)
}

// Last describes what a rank waits for, or waited for when it died; "" if that is not
// known.
func (n *Notes) Last(rank int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, err := shmfmt.ReadNote(n.mem, slices.Index(n.ranks, rank))
	if err != nil || len(v.Waits) == 0 {
		return ""
	}
	text := callsite.Resolve(v.Waits[0].For, nil)
	if v.Asleep > 1 {
		text += fmt.Sprintf(" and %d other calls", v.Asleep-1)
	}
	return text
}

// Read returns what all notes say now.
func (n *Notes) Read() (*shmfmt.NotesHeader, []shmfmt.NoteView, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return shmfmt.ReadNotes(n.mem)
}

// shared returns the file that processes map, nil if the system has no such memory. It stays open until Close.
func (n *Notes) shared() *os.File {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.file
}

// Close releases the descriptor.
func (n *Notes) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range []*os.File{n.file, n.old} {
		if f != nil {
			f.Close()
		}
	}
}

// ownMemory is memory of this process alone.
type ownMemory []byte

// ReadAt implements io.ReaderAt.
func (m ownMemory) ReadAt(b []byte, at int64) (int, error) {
	if at > int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(b, m[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements io.WriterAt.
func (m ownMemory) WriteAt(b []byte, at int64) (int, error) {
	if at > int64(len(m)) || copy(m[at:], b) < len(b) {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}
