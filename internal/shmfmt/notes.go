package shmfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unsafe"
)

// NotesHeader describes the job of the notes.
type NotesHeader struct {
	Launcher int // id of the process that holds the notes
	Local    int // processes that have a note
	Size     int // processes of the job
	Started  time.Time
	Job      string
	Fabric   string
	Command  string // for people; may be cut
}

// Offsets of the parts of the header. A text ends at its first zero byte or where the next part
// begins.
const (
	headerLauncher = 8  // uint32
	headerLocal    = 12 // uint32
	headerSize     = 16 // uint32
	headerStarted  = 24 // int64
	headerJob      = 32
	headerFabric   = 96
	headerCommand  = 112
)

// WriteNotes fills zeroed memory with a header and the notes of ranks that have not been started yet.
// Readers may find the memory before it is filled, so it writes the magic last: ReadNotes returns
// ErrNoNotes until all numbers are written.
func WriteNotes(w io.WriterAt, h *NotesHeader, ranks []int) error {
	for i, rank := range ranks {
		if _, err := w.WriteAt(NoteStarted(rank, 0), NotesSize(i)); err != nil {
			return fmt.Errorf("shmfmt: writing the note of rank %d: %w", rank, err)
		}
	}
	b := h.Encode()
	const magic = 8 // bytes
	_, err := w.WriteAt(b[magic:], magic)
	if err == nil {
		_, err = w.WriteAt(b[:magic], 0)
	}
	if err != nil {
		return fmt.Errorf("shmfmt: writing the header of notes: %w", err)
	}
	return nil
}

// NotesHolder returns what makes another process the holder of notes, to be written at the offset
// NotesHolderAt.
func NotesHolder(pid int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(pid)) }

// NotesHolderAt is the offset of NotesHolder.
const NotesHolderAt = headerLauncher

// Encode returns the encoded header.
func (h *NotesHeader) Encode() []byte {
	b := make([]byte, NoteSize)
	o := binary.NativeEndian
	o.PutUint64(b, noteMagic)
	o.PutUint32(b[headerLauncher:], uint32(h.Launcher))
	o.PutUint32(b[headerLocal:], uint32(h.Local))
	o.PutUint32(b[headerSize:], uint32(h.Size))
	o.PutUint64(b[headerStarted:], uint64(h.Started.UnixNano()))
	copy(b[headerJob:headerFabric], h.Job)
	copy(b[headerFabric:headerCommand], h.Fabric)
	copy(b[headerCommand:], h.Command)
	return b
}

func decodeNotesHeader(b []byte) (*NotesHeader, error) {
	o := binary.NativeEndian
	switch m := o.Uint64(b); m {
	case noteMagic:
	default:
		if partOfMagic(m) {
			return nil, ErrNoNotes
		}
		return nil, fmt.Errorf("shmfmt: notes begin with %#x, want %#x: another version of Halo wrote them", m, noteMagic)
	}
	h := &NotesHeader{
		Launcher: int(o.Uint32(b[headerLauncher:])),
		Local:    int(o.Uint32(b[headerLocal:])),
		Size:     int(o.Uint32(b[headerSize:])),
		Started:  time.Unix(0, int64(o.Uint64(b[headerStarted:]))),
		Job:      printable(b[headerJob:headerFabric]),
		Fabric:   printable(b[headerFabric:headerCommand]),
		Command:  printable(b[headerCommand:]),
	}
	if h.Local < 0 || h.Local > MaxLocal {
		return nil, fmt.Errorf("shmfmt: notes of %d processes, the limit is %d", h.Local, MaxLocal)
	}
	return h, nil
}

// partOfMagic reports whether each byte of m is zero or the one of noteMagic, with at
// least one zero. The kernel does not promise that a reader sees all bytes of a write at
// once.
func partOfMagic(m uint64) bool {
	zero := false
	for shift := 0; shift < 64; shift += 8 {
		switch have, want := byte(m>>shift), byte(noteMagic>>shift); {
		case have == want:
		case have == 0:
			zero = true
		default:
			return false
		}
	}
	return zero
}

// NoteStarted returns what the launcher writes at the start of a note when it has started the
// process.
func NoteStarted(rank, pid int) []byte {
	b := make([]byte, 8)
	binary.NativeEndian.PutUint32(b, uint32(rank))
	binary.NativeEndian.PutUint32(b[4:], uint32(pid))
	return b
}

// NoteEnd is the offset in a note at which the launcher writes how the process ended.
const NoteEnd = 8

const (
	endExited = 0x100 // plus the status
	endKilled = 0x200 // plus the signal
)

// NoteEnded returns what the launcher writes at NoteEnd of a note. signal is 0 if the process exited
// with status.
func NoteEnded(status, signal int) []byte {
	v := uint32(endExited | status&0xff)
	if signal != 0 {
		v = uint32(endKilled | signal&0xff)
	}
	return binary.NativeEndian.AppendUint32(nil, v)
}

// NoteLanguage is the offset in a note at which the launcher writes NoteInC if the process is a program
// in C, whose calls have names in C.
const NoteLanguage = int64(unsafe.Offsetof(Note{}.inC))

// NoteInC returns what the launcher writes at NoteLanguage.
func NoteInC() []byte { return binary.NativeEndian.AppendUint32(nil, 1) }

// A NoteView is the content of a Note.
type NoteView struct {
	Rank    int
	Pid     int // id of the process that the launcher has started, 0 if none yet
	Self    int // id of the process that has called Init, 0 if none has
	Ended   bool
	Status  int // exit status, if it exited
	Signal  int // the signal that ended it, 0 if it exited
	Stage   Stage
	InC     bool      // the process knows calls by their names in C
	Entered time.Time // when the stage began
	// Torn says that the process is in the middle of a change, or died there. Then the fields
	// that follow are not set.
	Torn    bool
	Asleep  int       // goroutines that sleep in calls
	Changed time.Time // when Asleep last changed
	Waits   []Wait    // of the goroutines that have slept longest, the longest first

	Unmatched string // messages that the process has not received; set by ReadNotes only
}

// A Wait is what a goroutine sleeps for.
type Wait struct {
	For    string
	Since  time.Time
	Awaits int // the number of the process that ends it: its rank if it is of this job; or AwaitsAny, or AwaitsUnknown
}

// noteRetries is how many times a note that is being changed is read again. A change takes less than a
// microsecond, unless the process was stopped in the middle of it.
const noteRetries = 20

// ErrNoNotes says that the launcher has made the memory and has not filled it yet.
var ErrNoNotes = errors.New("shmfmt: nothing is noted here")

// ReadNotes reads the notes of a node.
func ReadNotes(r io.ReaderAt) (*NotesHeader, []NoteView, error) {
	head := make([]byte, NoteSize)
	if n, err := r.ReadAt(head, 0); n < len(head) {
		if errors.Is(err, io.EOF) {
			err = ErrNoNotes
		}
		return nil, nil, err
	}
	h, err := decodeNotesHeader(head)
	if err != nil {
		return nil, nil, err
	}
	// All notes are read together: three system calls for any number of processes.
	size := NotesSize(h.Local) - NoteSize
	var looks [3][]byte
	for i := range looks {
		looks[i] = make([]byte, size)
		if _, err := r.ReadAt(looks[i], NoteSize); err != nil {
			return nil, nil, fmt.Errorf("shmfmt: notes of %d processes: %w", h.Local, err)
		}
	}
	views := make([]NoteView, h.Local)
	for i := range views {
		at := i * NoteSize
		views[i] = decodeNote(looks[0][at:at+NoteSize], looks[1][at:at+NoteSize], looks[2][at:at+NoteSize])
		for k := 0; views[i].Torn && k < noteRetries; k++ {
			views[i], err = readNote(r, i)
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return h, views, readMessages(r, views)
}

// ReadNote reads the note of local process i.
func ReadNote(r io.ReaderAt, i int) (NoteView, error) {
	v, err := readNote(r, i)
	for k := 0; v.Torn && err == nil && k < noteRetries; k++ {
		v, err = readNote(r, i)
	}
	return v, err
}

func readNote(r io.ReaderAt, i int) (NoteView, error) {
	var looks [3][]byte
	for k := range looks {
		looks[k] = make([]byte, NoteSize)
		if _, err := r.ReadAt(looks[k], NotesSize(i)); err != nil {
			return NoteView{}, fmt.Errorf("shmfmt: note of process %d: %w", i, err)
		}
	}
	return decodeNote(looks[0], looks[1], looks[2]), nil
}

// Offsets of the words of a note.
const (
	noteSeq      = unsafe.Offsetof(Note{}.seq)
	noteSelf     = unsafe.Offsetof(Note{}.self)
	noteStage    = unsafe.Offsetof(Note{}.stage)
	noteEntered  = unsafe.Offsetof(Note{}.entered)
	noteAsleep   = unsafe.Offsetof(Note{}.asleep)
	noteChanged  = unsafe.Offsetof(Note{}.changed)
	noteAwaits   = unsafe.Offsetof(Note{}.awaits)
	noteSleepers = unsafe.Offsetof(Note{}.sleepers)
	sleeperSize  = unsafe.Sizeof(noteSleeper{})
	sleeperText  = unsafe.Offsetof(noteSleeper{}.text)
)

// decodeNote decodes b. before was read before b, and after was read after it.
func decodeNote(before, b, after []byte) NoteView {
	o := binary.NativeEndian
	v := NoteView{
		Rank:    int(o.Uint32(b)),
		Pid:     int(o.Uint32(b[4:])),
		Self:    int(o.Uint32(b[noteSelf:])),
		Stage:   Stage(o.Uint32(b[noteStage:])),
		InC:     o.Uint32(b[NoteLanguage:]) == 1,
		Entered: time.Unix(0, int64(o.Uint64(b[noteEntered:]))),
	}
	switch end := int(o.Uint32(b[NoteEnd:])); { // without a flag: the write is not complete
	case end&endKilled != 0:
		v.Ended, v.Signal = true, end&0xff
	case end&endExited != 0:
		v.Ended, v.Status = true, end&0xff
	}
	seq := o.Uint32(before[noteSeq:])
	v.Torn = seq&1 != 0 || seq != o.Uint32(after[noteSeq:])
	if v.Torn {
		return v
	}
	v.Asleep = int(o.Uint32(b[noteAsleep:]))
	v.Changed = time.Unix(0, int64(o.Uint64(b[noteChanged:])))
	for i := range min(v.Asleep, NoteSleepers) {
		s := b[noteSleepers+uintptr(i)*sleeperSize:][:sleeperSize]
		awaits := int(int32(o.Uint32(b[noteAwaits+uintptr(i)*4:]))) - 1
		v.Waits = append(v.Waits, Wait{printable(s[sleeperText:]), time.Unix(0, int64(o.Uint64(s))), awaits})
	}
	return v
}

// printable returns the text up to the first zero byte, without control characters: a process that has
// the descriptor can write anything, and a terminal must not interpret it.
func printable(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, string(b))
}
