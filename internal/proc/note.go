package proc

import (
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// sleeper is a goroutine that went to sleep in Wait and is not out of it yet. It
// may be polling meanwhile, because the task was handed to it.
type sleeper struct {
	e     *Event
	since int64 // when it first went to sleep, in nanoseconds since 1970
}

// SetNote gives the process the place where launcher and halo ps read what it
// waits for; nil, as in ranks that are goroutines, if nobody does. Before Start.
func (p *Proc) SetNote(note *shmfmt.Note) { p.note = note }

// fallAsleep notes that a goroutine is about to sleep until e. It takes its time
// from one that has nothing better to do: nothing of this is on the way of a wait
// that ends while it polls, or soon after it parked while another polls. Those are
// noted when nobody polls any more, or every so many polls (noteParked): with 32
// goroutines that wait for a round trip each, notes were a sixth of their time.
func (p *Proc) fallAsleep(e *Event) {
	if p.note == nil || e.noted {
		return
	}
	e.noted = true
	now := time.Now().UnixNano()
	p.sleepers = append(p.sleepers, sleeper{e, now})
	p.note.Begin()
	p.describe(len(p.sleepers) - 1)
	p.note.End(len(p.sleepers), now)
}

// noteParked notes all that are parked.
func (p *Proc) noteParked() {
	for _, e := range p.parked {
		p.fallAsleep(e)
	}
}

// wakeUp undoes fallAsleep.
func (p *Proc) wakeUp(e *Event) {
	e.noted = false
	i := 0
	for p.sleepers[i].e != e {
		i++
	}
	last := len(p.sleepers) - 1
	copy(p.sleepers[i:], p.sleepers[i+1:]) // the order stays that of age
	p.sleepers[last] = sleeper{}
	p.sleepers = p.sleepers[:last]
	p.note.Begin()
	for ; i < min(last, shmfmt.NoteSleepers); i++ {
		p.describe(i)
	}
	now := int64(0)
	if last > 0 { // else nobody asks since when
		now = time.Now().UnixNano()
	}
	p.note.End(last, now)
}

// describe writes what sleeper i waits for into the note, if it has room.
func (p *Proc) describe(i int) {
	if i >= shmfmt.NoteSleepers {
		return
	}
	s := &p.sleepers[i]
	p.text = p.text[:0]
	if s.e.About != nil {
		p.text = s.e.About.AppendAbout(p.text)
	}
	p.note.SetSleeper(i, s.since, p.text)
}
