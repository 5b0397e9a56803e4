package shmfmt

import (
	"encoding/binary"
	"sync/atomic"
	"time"
	"unsafe"
)

// The notes of a node are memory in which its processes and their launcher record what they are doing,
// so that people can find out why a program hangs:
//
//	0      header: magic, launcher, job (NoteSize bytes), written by the launcher
//	512    Note of local process 0
//	...
//	512*n  Note of local process n-1
//	       NoteMessages of each of them
//
// Numbers are in the byte order of the machine; times are nanoseconds since 1970. The launcher writes
// the first words of a Note and its language. The process writes the rest: its stage, which is one
// word, and its sleepers under a sequence number, which is odd while they change. The process stores
// all words in order, atomically. A reader (ReadNotes) reads the number, then the words, then the
// number again, and uses the words if the number was even and the same.
//
// The memory has no name. The launcher holds its descriptor, and other processes of the same user find
// it there.

const (
	// NoteSize is the size in bytes of a Note.
	NoteSize = 512
	// NoteSleepers is how many sleeping goroutines of a process are described: those that have
	// slept longest. The others are counted.
	NoteSleepers = 4
	// NoteText is the longest description in bytes: an operation, a communicator's name, peer
	// and tag.
	NoteText = 104
	// ForAnotherJob is the end of descriptions of waits that a process outside of the job ends.
	ForAnotherJob = ", for another job"

	// noteMagic marks notes: "HNOTE" and the version of this layout.
	noteMagic = uint64(0x484e4f5445000000) | noteVersion
	// noteVersion changes with the layout.
	noteVersion = 3
)

// Who ends a wait, if not a process whose number is known.
const (
	AwaitsUnknown = -1 - iota // a process outside of the job, the program, a disk
	AwaitsAny                 // some process of the job
)

// Stage says which of Init and Finalize a process has called.
type Stage uint32

// The stages, in the order in which a process enters them, except after a Finalize that fails.
const (
	StageNone       Stage = iota // has not called Init
	StageInit                    // is in Init
	StageRunning                 // has returned from Init
	StageFinalizing              // is in Finalize
	StageFinalized               // has returned from Finalize
)

// Note describes one process. The exported methods that set something do nothing on a nil *Note.
type Note struct {
	rank atomic.Uint32 // in the job
	pid  atomic.Uint32 // of the process that the launcher started, 0 if none yet
	end  atomic.Uint32 // 0 while it runs; see NoteEnd

	seq     atomic.Uint32 // odd while asleep, changed or sleepers change; pairs with the loads of ReadNotes
	self    atomic.Uint32 // id of the process itself: the launcher may have started a wrapper
	stage   atomic.Uint32
	entered atomic.Int64               // when the stage began
	asleep  atomic.Uint32              // goroutines that sleep in calls
	inC     atomic.Uint32              // 1: the process knows calls by their names in C
	changed atomic.Int64               // when asleep last changed
	awaits  [NoteSleepers]atomic.Int32 // the number of a process plus 1, or AwaitsUnknown plus 1, or AwaitsAny plus 1

	sleepers [NoteSleepers]noteSleeper // the goroutine that has slept longest comes first
}

type noteSleeper struct {
	since atomic.Int64
	text  [NoteText / 8]atomic.Uint64 // ends at the first zero byte
}

// OpenNote returns the note of local process i in mapped notes, nil if they are too short.
func OpenNote(mem []byte, i int) *Note {
	at := (i + 1) * NoteSize
	if i < 0 || len(mem) < at+NoteSize {
		return nil
	}
	return (*Note)(unsafe.Pointer(&mem[at]))
}

// NotesSize returns the size in bytes of the notes of n processes.
func NotesSize(n int) int64 { return int64(n+1) * NoteSize }

// SetSelf stores the id of the process that writes the note.
func (n *Note) SetSelf(pid int) {
	if n != nil {
		n.self.Store(uint32(pid))
	}
}

// SetStage stores the stage of the process. It may be called at the same time as other methods.
func (n *Note) SetStage(s Stage) {
	if n != nil {
		n.entered.Store(time.Now().UnixNano())
		n.stage.Store(uint32(s))
	}
}

// Begin begins a change of the sleepers, and End ends it. One goroutine at a time makes changes.
func (n *Note) Begin() { n.seq.Add(1) }

// End ends a change: asleep goroutines sleep in calls now, the first of which are described.
func (n *Note) End(asleep int, now int64) {
	n.asleep.Store(uint32(asleep))
	n.changed.Store(now)
	n.seq.Add(1)
}

// SetSleeper stores what sleeper i waits for, and the number of the process that ends the wait, AwaitsAny or
// AwaitsUnknown.
func (n *Note) SetSleeper(i int, since int64, awaits int32, text []byte) {
	s := &n.sleepers[i]
	s.since.Store(since)
	n.awaits[i].Store(awaits + 1)
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
