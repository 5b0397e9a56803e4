package shmfmt

import (
	"encoding/binary"
	"sync/atomic"
	"time"
	"unsafe"
)

// The notes of a node are memory in which its processes and their launcher write
// down what they are doing, for people who want to know why a program hangs:
//
//	0      header: magic, launcher, job (NoteSize bytes), written by the launcher
//	512    Note of local process 0
//	...
//	512*n  Note of local process n-1
//
// Numbers are in the order of the machine, times are nanoseconds since 1970.
// Of a Note the first words are the launcher's, as is its language, and the process writes the rest:
// its stage, which is one word, and its sleepers under a sequence number that is
// odd while they change. The process stores all words in order, atomically;
// readers (ReadNotes) read the number, then the words, then the number again,
// and believe what they saw if it was even and the same.
//
// The memory has no name. The launcher holds its descriptor, and another process
// of the same user finds it there.

const (
	// NoteSize is the space of one process in the notes, in bytes.
	NoteSize = 512
	// NoteSleepers is how many of the sleeping goroutines of a process are
	// described, those that sleep longest; the others are counted.
	NoteSleepers = 4
	// NoteText is how much of a description is kept, in bytes: an operation, a
	// communicator's name, peer and tag.
	NoteText = 104

	// noteMagic marks notes: "HNOTE" and the version of this layout.
	noteMagic = uint64(0x484e4f5445000000) | noteVersion
	// noteVersion changes with the layout.
	noteVersion = 2
)

// Stage is how far a process has come with MPI.
type Stage uint32

// The stages. One is entered after the other, but for a Finalize that fails.
const (
	StageNone       Stage = iota // has not called Init
	StageInit                    // is in Init
	StageRunning                 // has returned from Init
	StageFinalizing              // is in Finalize
	StageFinalized               // has returned from Finalize
)

// Note is what is known of one process. A nil *Note takes everything and keeps
// nothing.
type Note struct {
	rank atomic.Uint32 // in the job
	pid  atomic.Uint32 // of the process that the launcher started, 0 if none yet
	end  atomic.Uint32 // 0 while it lives; see noteEnd

	seq     atomic.Uint32 // odd while asleep, changed or sleepers change; pairs with the loads of ReadNotes
	self    atomic.Uint32 // id of the process itself: a wrapper may have been started for it
	stage   atomic.Uint32
	entered atomic.Int64  // when the stage began
	asleep  atomic.Uint32 // goroutines that sleep in calls
	inC     atomic.Uint32 // 1: the process knows calls by their names in C
	changed atomic.Int64  // when asleep last changed
	_       [2]uint64

	sleepers [NoteSleepers]noteSleeper // of the first asleep ones, who sleeps longest first
}

type noteSleeper struct {
	since atomic.Int64
	text  [NoteText / 8]atomic.Uint64 // ends at the first zero byte
}

// OpenNote returns the note of local process i in mapped notes; nil if they are too short.
func OpenNote(mem []byte, i int) *Note {
	at := (i + 1) * NoteSize
	if i < 0 || len(mem) < at+NoteSize {
		return nil
	}
	return (*Note)(unsafe.Pointer(&mem[at]))
}

// NotesSize is the size in bytes of the notes of n processes.
func NotesSize(n int) int64 { return int64(n+1) * NoteSize }

// SetSelf says which process writes the note.
func (n *Note) SetSelf(pid int) {
	if n != nil {
		n.self.Store(uint32(pid))
	}
}

// SetStage says how far the process has come. Beside any other call.
func (n *Note) SetStage(s Stage) {
	if n != nil {
		n.entered.Store(time.Now().UnixNano())
		n.stage.Store(uint32(s))
	}
}

// Begin starts a change of the sleepers, and End ends it. One goroutine at a time.
func (n *Note) Begin() { n.seq.Add(1) }

// End makes the sleepers readable, of whom there are asleep in all.
func (n *Note) End(asleep int, now int64) {
	n.asleep.Store(uint32(asleep))
	n.changed.Store(now)
	n.seq.Add(1)
}

// SetSleeper says what sleeper i waits for.
func (n *Note) SetSleeper(i int, since int64, text []byte) {
	s := &n.sleepers[i]
	s.since.Store(since)
	if len(text) > NoteText {
		text = text[:NoteText]
	}
	for w := range s.text {
		var word [8]byte
		more := copy(word[:], text) == 8
		s.text[w].Store(binary.NativeEndian.Uint64(word[:]))
		if !more {
			return
		}
		text = text[8:]
	}
}
