package proc

import (
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// sleeper is a goroutine that has slept in Wait and has not returned from it. It may be
// the poller meanwhile, because it has taken over.
type sleeper struct {
	e     *Event
	since int64 // when it first went to sleep, in nanoseconds since 1970
}

// SetNote sets the wait note, in which launcher and halo ps read what the process waits for;
// nil if nobody reads it, as in ranks that are goroutines. messages is where the messages are described
// that have arrived and are not received, by the function of OnUnmatched. It is called before Start, or
// under the lock.
func (p *Proc) SetNote(note *shmfmt.Note, messages *shmfmt.NoteMessages) {
	p.note, p.noteMessages = note, messages
}

// NameCallsInC makes the wait notes name calls as in C. It is called before Start.
func (p *Proc) NameCallsInC() { p.inC = true }

// AppendCall appends the name of a call in the language of the program.
func (p *Proc) AppendCall(b []byte, by call.Number) []byte { return append(b, by.Name(p.inC)...) }

// OnUnmatched sets a function that describes the messages that have arrived and are not received, and
// one that returns their number. Both are called with the lock held. It is called before Start.
func (p *Proc) OnUnmatched(number func() int, describe func(text []byte) []byte) {
	p.unmatched, p.describeUnmatched = number, describe
}

// noteUnmatched notes the messages that are not received, if their number has changed since the last
// note. It is called where the process is about to sleep: what arrives before that costs nothing, and a
// message that wakes nobody is noted before the service sleeps again.
func (p *Proc) noteUnmatched() {
	if p.noteMessages == nil || p.unmatched == nil || len(p.sleepers) == 0 {
		return
	}
	n := p.unmatched()
	if n == p.notedUnmatched || n == 0 && !p.saidUnmatched {
		return
	}
	p.notedUnmatched = n
	p.text = p.describeUnmatched(p.text[:0])
	p.noteMessages.Set(p.text)
	p.saidUnmatched = len(p.text) > 0
}

// noteSleep notes that a goroutine is about to sleep until e. A wait that ends while its
// goroutine polls is not noted, nor is one that ends soon after it parked while another
// polls. Parked waits are noted when nobody polls any more, or every noteTurns polls
// (noteParked): with 32 goroutines that each wait for a round trip, notes took a sixth of
// their time.
func (p *Proc) noteSleep(e *Event) {
	if p.note == nil || e.noted {
		return
	}
	e.noted = true
	now := time.Now().UnixNano()
	p.sleepers = append(p.sleepers, sleeper{e, now})
	p.note.Begin()
	p.describe(len(p.sleepers) - 1)
	p.note.End(len(p.sleepers), now)
	p.notedUnmatched = -1
	p.noteUnmatched()
}

// Outside notes that a goroutine waits outside of the engine, until done is called.
func (p *Proc) Outside(what About) (done func()) {
	e := &Event{About: what}
	p.Lock()
	p.noteSleep(e)
	p.Unlock()
	return func() {
		p.Lock()
		if e.noted {
			p.noteWake(e)
		}
		p.Unlock()
	}
}

// noteParked notes all parked waits.
func (p *Proc) noteParked() {
	for _, e := range p.parked {
		p.noteSleep(e)
	}
}

// noteWake undoes noteSleep.
func (p *Proc) noteWake(e *Event) {
	e.noted = false
	i := 0
	for p.sleepers[i].e != e {
		i++
	}
	last := len(p.sleepers) - 1
	copy(p.sleepers[i:], p.sleepers[i+1:]) // keeps the order of age
	p.sleepers[last] = sleeper{}
	p.sleepers = p.sleepers[:last]
	p.note.Begin()
	for ; i < min(last, shmfmt.NoteSleepers); i++ {
		p.describe(i)
	}
	now := int64(0)
	if last > 0 { // else nobody reads the time
		now = time.Now().UnixNano()
	}
	p.note.End(last, now)
}

// describe writes what sleeper i waits for to the note, if it has room.
func (p *Proc) describe(i int) {
	if i >= shmfmt.NoteSleepers {
		return
	}
	s := &p.sleepers[i]
	p.text = p.text[:0]
	if s.e.About != nil {
		p.text = s.e.About.AppendAbout(p.text)
	}
	awaits := int32(shmfmt.AwaitsUnknown)
	if a, ok := s.e.About.(Awaiter); ok {
		awaits = a.Awaits()
	}
	p.note.SetSleeper(i, s.since, awaits, p.text)
}
