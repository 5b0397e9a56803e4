//go:build unix

package talk

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/testrun"
)

// A feed returns all bytes of its carrier, and at most StreamCredit bytes are in transit.
func TestCarrierAndFeed(t *testing.T) {
	text := make([]byte, 20*StreamCredit+12345)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	flying, most := 0, 0
	var c *Carrier
	f := NewFeed(func(n int) {
		mu.Lock()
		flying -= n
		mu.Unlock()
		c.Took(n)
	})
	c = NewCarrier(r, func(b []byte) {
		mu.Lock()
		flying += len(b)
		most = max(most, flying)
		mu.Unlock()
		if err := f.Add(b); err != nil {
			t.Error(err)
		}
	}, f.Finish)
	go c.Run()
	go func() {
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(3*piece))
			w.Write(rest[:n])
			rest = rest[n:]
		}
		w.Close()
	}()
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d arrived, %v", len(got), len(text), err)
	}
	if most > StreamCredit || most < piece/2 {
		t.Errorf("up to %d bytes were under way, StreamCredit is %d", most, StreamCredit)
	}
}

// A feed refuses data beyond StreamCredit.
func TestFeedHoldsTheWindowOnly(t *testing.T) {
	f := NewFeed(func(int) {})
	if err := f.Add(make([]byte, StreamCredit)); err != nil {
		t.Error(err)
	}
	if err := f.Add([]byte{1}); err == nil {
		t.Error("took more than StreamCredit")
	}
}

func TestFeedHasDeadlines(t *testing.T) {
	f := NewFeed(func(int) {})
	b := make([]byte, 10)
	f.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := f.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v", n, err)
	}
	f.SetReadDeadline(time.Time{})
	go func() {
		f.SetReadDeadline(time.Now()) // wakes the blocked Read
	}()
	if n, err := f.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v", n, err)
	}
	f.Add([]byte("x"))
	if n, err := f.Read(b); n != 1 || err != nil {
		t.Errorf("%d bytes, %v: what is there comes first", n, err)
	}
	f.Close()
	if n, err := f.Read(b); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A closed carrier gives up after a moment if the writer does not close its end.
func TestClosedCarrierEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // kept open, as by an orphan
	var got []byte
	ended := make(chan bool)
	c := NewCarrier(r, func(b []byte) { got = append(got, b...) }, func() { close(ended) })
	w.Write([]byte("last words"))
	go c.Run()
	c.Close()
	<-ended
	if string(got) != "last words" {
		t.Errorf("got %q", got)
	}
}

// stuck is a writer that blocks until let is closed.
type stuck struct {
	let chan bool
	bytes.Buffer
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.let
	return s.Buffer.Write(b)
}

func TestOutboxDoesNotMakeTheSenderWait(t *testing.T) {
	s := &stuck{let: make(chan bool)}
	o := NewOutbox(s)
	var want []byte
	for i := range 1000 {
		want = append(want, byte(i))
		o.Send([]byte{byte(i)})
	}
	close(s.let)
	o.Flush(testrun.Long)
	if !bytes.Equal(s.Bytes(), want) {
		t.Errorf("%d bytes of %d were written", s.Len(), len(want))
	}
	o.Close()
	o.Send([]byte{1})
	o.Flush(testrun.Long)
	if s.Len() != len(want) {
		t.Error("a closed outbox has written")
	}
}

func TestPulse(t *testing.T) {
	var p Liveness
	p.Beat()
	p.own.last = time.Now()
	if p.Since() > Silence {
		t.Error("silent right after a beat")
	}
	p.heard.Store(time.Now().Add(-2 * Silence).UnixNano())
	p.own.last = time.Now().Add(-BeatInterval)
	if p.Since() < Silence {
		t.Error("silence was not noticed")
	}
	p.heard.Store(time.Now().Add(-2 * Silence).UnixNano())
	p.own.last = time.Now().Add(-2 * Silence) // the checking side itself was stopped
	if p.Since() > Silence {
		t.Error("one who was stopped blames the other")
	}
}

// A side whose timer is late, or that is told so by the other, waits longer, for a while. Nobody waits longer whose
// timers are in time, or for ever.
func TestF4_BusyHostsMayBeSilentForLonger(t *testing.T) {
	at := time.Now()
	for name, c := range map[string]struct {
		ticks []time.Duration // between calls of since
		told  int             // in ms
		least time.Duration
		most  time.Duration
	}{
		"in time":              {[]time.Duration{BeatInterval, BeatInterval}, 0, Silence, Silence},
		"early":                {[]time.Duration{BeatInterval / 2}, 0, Silence, Silence},
		"late":                 {[]time.Duration{BeatInterval + 100*time.Millisecond}, 0, Silence + 2*time.Second, Silence + 2*time.Second},
		"late before":          {[]time.Duration{BeatInterval + 100*time.Millisecond, BeatInterval, BeatInterval}, 0, Silence + time.Second, Silence + 2*time.Second},
		"late long ago":        {append([]time.Duration{2 * BeatInterval}, slices.Repeat([]time.Duration{BeatInterval}, 100)...), 0, Silence, Silence + 10*time.Millisecond},
		"the other is late":    {[]time.Duration{BeatInterval}, 150, Silence + 3*time.Second, Silence + 3*time.Second},
		"stopped for an hour":  {[]time.Duration{time.Hour}, 0, Silence + lateFactor*lateMost, Silence + lateFactor*lateMost},
		"the other tells lies": {[]time.Duration{BeatInterval}, 1 << 31, Silence + lateFactor*lateMost, Silence + lateFactor*lateMost},
	} {
		var p Liveness
		p.own.tick(at)
		now := at
		for _, d := range c.ticks {
			now = now.Add(d)
			p.own.tick(now)
		}
		p.Take(frame.New(0).U32(uint32(c.told)).Bytes()[frame.HeadSize:])
		if got := p.Limit(); got < c.least || got > c.most {
			t.Errorf("%s: %v, want %v to %v", name, got, c.least, c.most)
		}
	}
}
