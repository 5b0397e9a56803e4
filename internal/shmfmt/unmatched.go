package shmfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"
)

// NoteMessages describes the messages that a process has not received while it waits. Those of all
// processes of a node follow their notes in memory, so that notes are where they were without them.
// The process stores the words in order under a number, as with a Note; a reader uses them if the number
// was even and the same before and after.
type NoteMessages struct {
	seq  atomic.Uint64
	text [NoteMessagesText / 8]atomic.Uint64 // ends at the first zero byte
}

// NoteMessagesText is the longest description in bytes: a few messages, in checking mode with the places of
// the calls that have sent them.
const NoteMessagesText = 504

const noteMessagesSize = int64(unsafe.Sizeof(NoteMessages{}))

// NotesMemory returns the size in bytes of the memory of notes of n processes, with their messages.
func NotesMemory(n int) int64 { return NotesSize(n) + int64(n)*noteMessagesSize }

// OpenMessages returns the messages of local process i of n in mapped notes, nil if they are too short.
func OpenMessages(mem []byte, i, n int) *NoteMessages {
	at := NotesSize(n) + int64(i)*noteMessagesSize
	if i < 0 || int64(len(mem)) < at+noteMessagesSize {
		return nil
	}
	return (*NoteMessages)(unsafe.Pointer(&mem[at]))
}

// Set stores a description. One goroutine at a time calls it; it does nothing on nil.
func (m *NoteMessages) Set(text []byte) {
	if m == nil {
		return
	}
	text = text[:min(len(text), NoteMessagesText)]
	m.seq.Add(1) // pairs with the loads of readMessages
	for i := range m.text {
		var word [8]byte
		more := copy(word[:], text) == 8
		m.text[i].Store(binary.NativeEndian.Uint64(word[:]))
		if !more {
			break
		}
		text = text[8:]
	}
	m.seq.Add(1)
}

// readMessages reads the messages of all processes. Memory that has none, and a text that is being
// changed, are left out.
func readMessages(r io.ReaderAt, views []NoteView) error {
	var looks [3][]byte
	for i := range looks {
		looks[i] = make([]byte, int64(len(views))*noteMessagesSize)
		if _, err := r.ReadAt(looks[i], NotesSize(len(views))); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("shmfmt: messages of %d processes: %w", len(views), err)
		}
	}
	for i := range views {
		at := int64(i) * noteMessagesSize
		before, after := looks[0][at:at+8], looks[2][at:at+8]
		if bytes.Equal(before, after) && binary.NativeEndian.Uint64(before)&1 == 0 {
			views[i].Unmatched = printable(looks[1][at+8 : at+noteMessagesSize])
		}
	}
	return nil
}
