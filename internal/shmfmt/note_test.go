package shmfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestNoteLayoutIsGolden(t *testing.T) {
	var l listing
	l.line("magic", fmt.Sprintf("%#x", noteMagic))
	l.line("NoteSize", NoteSize)
	l.line("NoteSleepers", NoteSleepers)
	l.line("NoteText", NoteText)
	for _, s := range []Stage{StageNone, StageInit, StageRunning, StageFinalizing, StageFinalized} {
		l.line("stage", uint32(s))
	}
	l.fields(Note{})
	l.fields(noteSleeper{})
	l.fields(NoteMessages{})
	for _, n := range []int{1, 2, 1000} {
		l.line(fmt.Sprintf("notes of %d: size", n), NotesSize(n))
	}
	l.WriteString(dump(someNotes()))
	golden(t, "notes.txt", l.String())
	if unsafe.Sizeof(Note{}) != NoteSize {
		t.Errorf("a Note has %d bytes, NoteSize is %d", unsafe.Sizeof(Note{}), NoteSize)
	}
}

// notesMemory returns aligned memory for the notes of n processes.
func notesMemory(n int) []byte { return heapMemory(NotesSize(n)) }

// someNotes are notes of three processes: one that waits, one that was killed, and
// one that was never started.
func someNotes() []byte {
	mem := notesMemory(3)
	h := NotesHeader{Launcher: 0x1234, Local: 3, Size: 7, Started: time.Unix(5, 6), Job: "77-abc", Fabric: "shm", Command: "./heat -n 3"}
	copy(mem, h.Encode())
	copy(mem[NotesSize(0):], NoteStarted(4, 0x2345))
	copy(mem[NotesSize(1):], NoteStarted(5, 0x2346))
	copy(mem[NotesSize(1)+NoteEnd:], NoteEnded(-1, 9))
	copy(mem[NotesSize(2):], NoteStarted(6, 0))
	copy(mem[NotesSize(0)+NoteLanguage:], NoteInC())
	n := OpenNote(mem, 0)
	n.SetSelf(0x2399)
	n.stage.Store(uint32(StageRunning))
	n.entered.Store(1e9)
	n.Begin()
	n.SetSleeper(0, 2e9, 2, []byte("Recv on world from 2 tag 7"))
	n.SetSleeper(1, 3e9, AwaitsAny, []byte(strings.Repeat("x", NoteText+10)))
	n.End(6, 4e9)
	return mem
}

func TestNotesAreReadAsWritten(t *testing.T) {
	h, views, err := ReadNotes(bytes.NewReader(someNotes()))
	if err != nil {
		t.Fatal(err)
	}
	want := NotesHeader{0x1234, 3, 7, time.Unix(5, 6), "77-abc", "shm", "./heat -n 3"}
	if *h != want {
		t.Errorf("header %+v, want %+v", *h, want)
	}
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	a := views[0]
	if a.Rank != 4 || a.Pid != 0x2345 || a.Self != 0x2399 || a.Ended || a.Torn || !a.InC || a.Stage != StageRunning || a.Entered != at(1) ||
		a.Asleep != 6 || a.Changed != at(4) || len(a.Waits) != NoteSleepers {
		t.Errorf("note %+v", a)
	}
	if a.Waits[0] != (Wait{"Recv on world from 2 tag 7", at(2), 2}) || a.Waits[1] != (Wait{strings.Repeat("x", NoteText), at(3), AwaitsAny}) {
		t.Errorf("waits %+v", a.Waits)
	}
	if b := views[1]; b.Rank != 5 || !b.Ended || b.Signal != 9 || b.Status != 0 || b.InC || len(b.Waits) != 0 {
		t.Errorf("note of the killed %+v", b)
	}
	if c := views[2]; c.Rank != 6 || c.Pid != 0 || c.Ended || c.Stage != StageNone {
		t.Errorf("note of the one that is not started %+v", c)
	}
	mem := someNotes()
	copy(mem[NotesSize(0)+NoteEnd:], NoteEnded(0, 0))
	if v, err := ReadNote(bytes.NewReader(mem), 0); err != nil || !v.Ended || v.Status != 0 || v.Signal != 0 {
		t.Errorf("note of one that ended well %+v, %v", v, err)
	}
}

// A shorter text replaces all of a longer one.
func TestNoteTextEndsWhereItEnds(t *testing.T) {
	mem := notesMemory(1)
	n := OpenNote(mem, 0)
	for length := NoteText; length >= 0; length-- {
		want := strings.Repeat("y", length)
		n.Begin()
		n.SetSleeper(0, 1, AwaitsUnknown, []byte(want))
		n.End(1, 1)
		v, err := ReadNote(bytes.NewReader(mem), 0)
		if err != nil || len(v.Waits) != 1 || v.Waits[0].For != want {
			t.Fatalf("%d bytes: %+v, %v", length, v, err)
		}
	}
}

// Characters that are not printable are removed.
func TestNoteTextIsPrintable(t *testing.T) {
	mem := notesMemory(1)
	n := OpenNote(mem, 0)
	n.Begin()
	n.SetSleeper(0, 1, AwaitsUnknown, []byte("a\x1b[2Jb\xff\xc3c\nd e\u00e4"))
	n.End(1, 1)
	if v, _ := ReadNote(bytes.NewReader(mem), 0); len(v.Waits) != 1 || v.Waits[0].For != "a[2Jbcd e\u00e4" {
		t.Errorf("%+v", v.Waits)
	}
}

// interrupted reads memory, and calls a function between its reads.
type interrupted struct {
	mem     []byte
	between func()
}

func (r *interrupted) ReadAt(b []byte, at int64) (int, error) {
	r.between()
	return bytes.NewReader(r.mem).ReadAt(b, at)
}

// A reader does not wait for a process that was stopped in the middle of a change, or that changes its
// note all the time, and uses nothing of that change.
func TestTornNoteIsRecognised(t *testing.T) {
	mem := someNotes()
	n := OpenNote(mem, 0)
	write := func(text string) {
		n.Begin()
		n.SetSleeper(0, 1, AwaitsUnknown, []byte(text))
		n.End(1, 1)
	}
	n.Begin()
	if _, views, err := ReadNotes(bytes.NewReader(mem)); err != nil || !views[0].Torn || len(views[0].Waits) != 0 || views[0].Rank != 4 {
		t.Errorf("in the middle: %+v, %v", views[0], err)
	}
	n.End(1, 1)
	always := &interrupted{mem, func() { write("always") }}
	if _, views, err := ReadNotes(always); err != nil || !views[0].Torn || len(views[0].Waits) != 0 {
		t.Errorf("all the time: %+v, %v", views[0], err)
	}
	for first := range 4 { // one change, between any two reads
		k := 0
		once := &interrupted{mem, func() {
			if k == first {
				write(fmt.Sprint("change ", first))
			}
			k++
		}}
		_, views, err := ReadNotes(once)
		if want := fmt.Sprint("change ", first); err != nil || views[0].Torn || views[0].Waits[0].For != want {
			t.Errorf("a change at read %d: %+v, %v", first, views[0], err)
		}
	}
}

func TestForeignNotesAreRefused(t *testing.T) {
	mem := someNotes()
	for _, c := range []struct {
		name  string
		spoil func(b []byte) []byte
		want  string
	}{
		{"other version", func(b []byte) []byte { b[0]++; return b }, "another version"},
		{"too short for a header", func(b []byte) []byte { return b[:100] }, "nothing is noted"},
		{"not written yet", func(b []byte) []byte { clear(b); return b }, "nothing is noted"},
		{"too short for its processes", func(b []byte) []byte { return b[:len(b)-1] }, "notes of 3 processes"},
		{"absurd number of processes", func(b []byte) []byte { b[headerLocal+3] = 0x7f; return b }, "the limit is"},
	} {
		_, _, err := ReadNotes(bytes.NewReader(c.spoil(bytes.Clone(mem))))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if OpenNote(mem, 3) != nil || OpenNote(mem, -1) != nil {
		t.Error("a note outside the memory")
	}
}

// With any content of the notes, reading them ends, and the result is bounded.
func FuzzNotes(f *testing.F) {
	f.Add(someNotes(), uint64(1))
	f.Fuzz(func(t *testing.T, mem []byte, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		_, views, err := ReadNotes(&interrupted{mem, func() {
			if len(mem) > 0 {
				mem[r.IntN(len(mem))] ^= byte(r.Uint32())
			}
		}})
		if err != nil {
			return
		}
		for _, v := range views {
			if len(v.Waits) > NoteSleepers {
				t.Fatalf("%d waits", len(v.Waits))
			}
			for _, w := range v.Waits {
				if len(w.For) > NoteText || strings.ContainsAny(w.For, "\x00\x1b\n") {
					t.Fatalf("text %q", w.For)
				}
			}
		}
	})
}

var _ io.ReaderAt = (*interrupted)(nil)

// slowWriter writes one byte at a time, and calls a function after each.
type slowWriter struct {
	mem  []byte
	look func()
}

func (w *slowWriter) WriteAt(b []byte, at int64) (int, error) {
	for i := range b {
		w.mem[at+int64(i)] = b[i]
		w.look()
	}
	return len(b), nil
}

// Promise F6: a reader of notes that the launcher is writing finds none, or finds all numbers, for any
// part of the launcher's writes.
func TestF6_NotesAppearAsAWhole(t *testing.T) {
	ranks := []int{4, 5, 0x106}
	want := NotesHeader{Launcher: 0x12345, Local: len(ranks), Size: 7, Started: time.Unix(5, 6), Job: "77-abc", Fabric: "shm", Command: "./heat -n 3"}
	mem := notesMemory(len(ranks))
	looks, seen := 0, 0
	err := WriteNotes(&slowWriter{mem, func() {
		looks++
		h, views, err := ReadNotes(bytes.NewReader(mem))
		if errors.Is(err, ErrNoNotes) {
			return
		}
		seen++
		if err != nil || *h != want || len(views) != len(ranks) {
			t.Fatalf("after %d bytes: %+v, %+v, %v", looks, h, views, err)
		}
		for i, v := range views {
			if v.Rank != ranks[i] || v.Pid != 0 || v.Ended {
				t.Fatalf("after %d bytes: note %d is %+v, want rank %d", looks, i, v, ranks[i])
			}
		}
	}}, &want, ranks)
	if err != nil || seen == 0 || looks <= NoteSize {
		t.Errorf("%d looks, %d of them found notes, %v", looks, seen, err)
	}
}

// A note says that its process has ended once the whole status is written, and not before.
func TestF6_EndAppearsAsAWhole(t *testing.T) {
	for _, end := range [][2]int{{0, 0}, {3, 0}, {-1, 9}} {
		mem := someNotes()
		seen := false
		(&slowWriter{mem, func() {
			v, err := ReadNote(bytes.NewReader(mem), 0)
			if err != nil || v.Ended && (v.Signal != end[1] || end[1] == 0 && v.Status != end[0]) {
				t.Errorf("status %d, signal %d: %+v, %v", end[0], end[1], v, err)
			}
			seen = seen || v.Ended
		}}).WriteAt(NoteEnded(end[0], end[1]), NotesSize(0)+NoteEnd)
		if !seen {
			t.Errorf("status %d, signal %d: the end does not show", end[0], end[1])
		}
	}
}
