package proc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// label is an About with a constant text.
type label string

func (l label) AppendAbout(b []byte) []byte { return append(b, l...) }

func labelled(i int) *proc.Event { return &proc.Event{About: label(fmt.Sprint("wait ", i))} }

// withNote gives p a note and returns a function that reads it. The caller of that function
// holds the lock.
func withNote(t *testing.T, p *proc.Proc) (read func() shmfmt.NoteView) {
	t.Helper()
	words := make([]uint64, shmfmt.NotesSize(1)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), shmfmt.NotesSize(1))
	p.Lock()
	p.SetNote(shmfmt.OpenNote(mem, 0), nil)
	p.Unlock()
	return func() shmfmt.NoteView {
		v, err := shmfmt.ReadNote(bytes.NewReader(mem), 0)
		if err != nil || v.Torn {
			t.Errorf("note %+v, %v", v, err)
		}
		return v
	}
}

// Promise F6: the note describes the waits that have slept longest, the longest first, and
// counts all sleepers, whatever the order in which they fall asleep and wake up.
func TestF6_NoteTellsWhoSleepsLongest(t *testing.T) {
	p, _ := pair(t, shortly, nil)
	read := withNote(t, p)
	r := rand.New(rand.NewPCG(1, 2))
	var sleep []*proc.Event // the oldest first
	p.Lock()
	defer p.Unlock()
	for step := range 5000 {
		if n := len(sleep); n > 0 && r.IntN(12) < n {
			i := r.IntN(n)
			p.NoteWake(sleep[i])
			sleep = slices.Delete(sleep, i, i+1)
		} else {
			e := labelled(step)
			if step%7 == 0 {
				e.About = nil // nobody asked for a description
			}
			sleep = append(sleep, e)
			p.NoteSleep(e)
		}
		v := read()
		if v.Asleep != len(sleep) || len(v.Waits) != min(len(sleep), shmfmt.NoteSleepers) {
			t.Fatalf("step %d: %d sleep, the note says %d and tells of %d", step, len(sleep), v.Asleep, len(v.Waits))
		}
		for i, w := range v.Waits {
			var want []byte
			if sleep[i].About != nil {
				want = sleep[i].About.AppendAbout(nil)
			}
			if w.For != string(want) || i > 0 && w.Since.Before(v.Waits[i-1].Since) || w.Since.After(time.Now()) {
				t.Fatalf("step %d: sleeper %d is %q since %v, want %q; all: %v", step, i, w.For, w.Since, want, v.Waits)
			}
		}
	}
}

// A wait outside of the engine is noted until it is over, beside others.
func TestF6_WaitsOutsideAreNoted(t *testing.T) {
	p, _ := pair(t, shortly, nil)
	read := withNote(t, p)
	first, second := p.Outside(label("one")), p.Outside(label("two"))
	if v := read(); v.Asleep != 2 || v.Waits[0].For != "one" || v.Waits[1].For != "two" {
		t.Errorf("two waits: %+v", v)
	}
	first()
	if v := read(); v.Asleep != 1 || v.Waits[0].For != "two" {
		t.Errorf("one wait: %+v", v)
	}
	second()
	if v := read(); v.Asleep != 0 {
		t.Errorf("no wait: %+v", v)
	}
}

// A goroutine that sleeps in Wait is in the note until Wait returns, with the time
// at which it first fell asleep, although it is woken to poll in between.
func TestF6_WaitIsNotedUntilItReturns(t *testing.T) {
	events := []*proc.Event{labelled(0), labelled(1)}
	p, peer := pair(t, shortly, events)
	read := withNote(t, p)
	look := func() (v shmfmt.NoteView) {
		p.Lock()
		defer p.Unlock()
		return read()
	}
	first := waiter(p, events[0], nil)
	until(t, "the first sleeps", func() bool { return look().Asleep == 1 })
	second := waiter(p, events[1], nil)
	until(t, "the second sleeps", func() bool { return look().Asleep == 2 })
	before := look()
	if before.Waits[0].For != "wait 0" || before.Waits[1].For != "wait 1" {
		t.Errorf("waits %v", before.Waits)
	}
	fire(peer, 0) // the current poller hands over to the second goroutine
	until(t, "the first is woken", closed(first))
	until(t, "only the second sleeps", func() bool { return look().Asleep == 1 })
	if after := look(); after.Waits[0] != before.Waits[1] {
		t.Errorf("the second waits for %v, before for %v", after.Waits[0], before.Waits[1])
	}
	fire(peer, 1)
	until(t, "the second is woken", closed(second))
	if v := look(); v.Asleep != 0 || len(v.Waits) != 0 {
		t.Errorf("when all are awake: %+v", v)
	}
}

// Falling asleep and waking up allocate nothing.
func TestNotingAllocatesNothing(t *testing.T) {
	p, _ := pair(t, shortly, nil)
	withNote(t, p)
	events := []*proc.Event{labelled(0), labelled(1), labelled(2)}
	p.Lock()
	defer p.Unlock()
	step := func() {
		for _, e := range events {
			p.NoteSleep(e)
		}
		for _, e := range events {
			p.NoteWake(e)
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A process names calls in the language of its program; calls that only Go has keep their name.
func TestNotesNameCallsInTheLanguageOfTheProgram(t *testing.T) {
	inGo, inC := new(proc.Proc), new(proc.Proc)
	inC.NameCallsInC()
	for _, x := range []struct {
		by        call.Number
		inGo, inC string
	}{
		{call.WinFence, "Fence", "MPI_Win_fence"},
		{call.CommDup, "Dup", "MPI_Comm_dup"},
		{call.IntercommMerge, "Merge", "MPI_Intercomm_merge"},
		{call.FileSetInfo, "SetInfo", "MPI_File_set_info"},
		{call.IwaitNotify, "IwaitNotify", "MPIX_Win_wait_notify"},
		{call.FetchOp, "FetchOp", "FetchOp"},
		{call.None, "", ""},
	} {
		if g, c := string(inGo.AppendCall(nil, x.by)), string(inC.AppendCall(nil, x.by)); g != x.inGo || c != x.inC {
			t.Errorf("%q in Go and %q in C, want %q and %q", g, c, x.inGo, x.inC)
		}
	}
}
