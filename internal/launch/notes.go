//go:build unix

package launch

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// notesName is the name of the memory of notes in /proc.
const notesName = "halo-notes"

// notes is the memory of the wait notes of this host, which the launcher and the processes
// write: see shmfmt.Note. It exists before the first process, so that halo ps finds the job
// from then on.
type notes struct {
	ranks []int    // of this host: the i-th note is that of ranks[i]
	file  *os.File // the file that processes map; nil if the system has no such memory
	mem   interface {
		io.ReaderAt
		io.WriterAt
	}
}

// newNotes makes the notes of the ranks of a job on this host. If the system has no shared
// memory for them, the job runs without, and its processes write none.
func newNotes(h *shmfmt.NotesHeader, ranks []int) *notes {
	h.Launcher, h.Local = os.Getpid(), len(ranks)
	size := shmfmt.NotesSize(len(ranks))
	n := &notes{ranks: ranks, mem: make(ownMemory, size)}
	if file, err := sys.Memfd(notesName, size); err == nil {
		n.file, n.mem = file, file
	}
	// A write to either kind of memory does not fail, because the space is allocated.
	shmfmt.WriteNotes(n.mem, h, ranks)
	return n
}

// at is the offset of the note of a rank.
func (n *notes) at(rank int) int64 { return shmfmt.NotesSize(slices.Index(n.ranks, rank)) }

// started notes that a rank is process pid.
func (n *notes) started(rank, pid int) { n.mem.WriteAt(shmfmt.NoteStarted(rank, pid), n.at(rank)) }

// inC notes that the program of a rank uses the C names of calls.
func (n *notes) inC(rank int) { n.mem.WriteAt(shmfmt.NoteInC(), n.at(rank)+shmfmt.NoteLanguage) }

// ended notes how the process of a rank has ended.
func (n *notes) ended(rank int, s syscall.WaitStatus) {
	signal := 0
	if s.Signaled() {
		signal = int(s.Signal())
	}
	n.mem.WriteAt(shmfmt.NoteEnded(s.ExitStatus(), signal), n.at(rank)+shmfmt.NoteEnd)
}

// last describes what a rank waits for, or waited for when it died; "" if that is not
// known.
func (n *notes) last(rank int) string {
	v, err := shmfmt.ReadNote(n.mem, slices.Index(n.ranks, rank))
	if err != nil || len(v.Waits) == 0 {
		return ""
	}
	text := waitsFor(&v, 0)
	if v.Asleep > 1 {
		text += fmt.Sprintf(" and %d other calls", v.Asleep-1)
	}
	return text
}

// waitsFor describes what a goroutine of a process waits for, in the language of its program.
func waitsFor(v *shmfmt.NoteView, i int) string {
	if v.InC {
		return cname.Wait(v.Waits[i].For)
	}
	return v.Waits[i].For
}

// inWords returns a text with the names of calls in the language of the program: C if inC.
func inWords(text string, inC bool) string {
	if inC {
		return cname.Text(text, false)
	}
	return text
}

// table returns the table of the ranks of this host and what they do now, for people.
func (n *notes) table() string {
	h, views, err := shmfmt.ReadNotes(n.mem)
	if err != nil {
		return fmt.Sprintf("what the ranks wait for cannot be read: %v", err)
	}
	var b strings.Builder
	newJobState(h, views, time.Now()).Write(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

func (n *notes) close() {
	if n.file != nil {
		n.file.Close()
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
