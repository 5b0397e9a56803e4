//go:build unix

package talk

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
)

// Liveness measures for how long nothing has arrived from the other side.
type Liveness struct {
	heard   atomic.Int64 // time of the last arrival, as UnixNano; stored by the reader, loaded by Age
	told    atomic.Int64 // how late the other side's timer was, in milliseconds; stored by the reader, loaded by Limit
	own     lateness     // of the calls of Since
	excused time.Time    // when Since was called late
}

// Beat notes that something has arrived.
func (p *Liveness) Beat() { p.heard.Store(time.Now().UnixNano()) }

// Take takes a heartbeat.
func (p *Liveness) Take(beat []byte) {
	b := frame.Body{Left: beat}
	p.told.Store(int64(b.U32()))
}

// Limit returns for how long the other side may be silent.
func (p *Liveness) Limit() time.Duration {
	told := time.Duration(p.told.Load()) * time.Millisecond
	return Silence + lateFactor*min(max(p.own.worst, told), lateMost)
}

// Since returns how long nothing has arrived while this process was running. It must be called
// every BeatInterval; a longer gap shows that this process itself was stopped, and counts as
// one interval.
func (p *Liveness) Since() time.Duration {
	now := time.Now()
	if now.Sub(p.own.last) > 2*BeatInterval {
		p.excused = now
	}
	p.own.tick(now)
	return min(p.Age(), now.Sub(p.excused))
}

// Age returns how long nothing has arrived.
func (p *Liveness) Age() time.Duration { return time.Duration(time.Now().UnixNano() - p.heard.Load()) }

// LivenessReader reports every read to a liveness.
type LivenessReader struct {
	From io.Reader
	*Liveness
}

// Read implements io.Reader.
func (r LivenessReader) Read(b []byte) (int, error) {
	n, err := r.From.Read(b)
	if n > 0 {
		r.Beat()
	}
	return n, err
}

// lateness measures how late a timer is that ticks every BeatInterval. It is late on a host whose cores other processes
// use.
type lateness struct {
	last  time.Time
	worst time.Duration // of the last ticks; the older one is, the less it counts
}

func (l *lateness) tick(now time.Time) {
	l.worst -= l.worst / 8
	if !l.last.IsZero() {
		l.worst = max(l.worst, min(now.Sub(l.last)-BeatInterval, lateMost))
	}
	l.last = now
}
