//go:build unix

package launch

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
)

// A feed returns all bytes of its carrier, and at most streamCredit bytes are in transit.
func TestCarrierAndFeed(t *testing.T) {
	text := make([]byte, 20*streamCredit+12345)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	flying, most := 0, 0
	var c *carrier
	f := newFeed(func(n int) {
		mu.Lock()
		flying -= n
		mu.Unlock()
		c.took(n)
	})
	c = newCarrier(r, func(b []byte) {
		mu.Lock()
		flying += len(b)
		most = max(most, flying)
		mu.Unlock()
		if err := f.add(b); err != nil {
			t.Error(err)
		}
	}, f.finish)
	go c.run()
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
	if most > streamCredit || most < piece/2 {
		t.Errorf("up to %d bytes were under way, streamCredit is %d", most, streamCredit)
	}
}

// A feed refuses data beyond streamCredit.
func TestFeedHoldsTheWindowOnly(t *testing.T) {
	f := newFeed(func(int) {})
	if err := f.add(make([]byte, streamCredit)); err != nil {
		t.Error(err)
	}
	if err := f.add([]byte{1}); err == nil {
		t.Error("took more than streamCredit")
	}
}

func TestFeedHasDeadlines(t *testing.T) {
	f := newFeed(func(int) {})
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
	f.add([]byte("x"))
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
	c := newCarrier(r, func(b []byte) { got = append(got, b...) }, func() { close(ended) })
	w.Write([]byte("last words"))
	go c.run()
	c.close()
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
	o := newOutbox(s)
	var want []byte
	for i := range 1000 {
		want = append(want, byte(i))
		o.send([]byte{byte(i)})
	}
	close(s.let)
	o.flush(hangs)
	if !bytes.Equal(s.Bytes(), want) {
		t.Errorf("%d bytes of %d were written", s.Len(), len(want))
	}
	o.close()
	o.send([]byte{1})
	o.flush(hangs)
	if s.Len() != len(want) {
		t.Error("a closed outbox has written")
	}
}

func TestPulse(t *testing.T) {
	var p liveness
	p.beat()
	p.own.last = time.Now()
	if p.since() > silence {
		t.Error("silent right after a beat")
	}
	p.heard.Store(time.Now().Add(-2 * silence).UnixNano())
	p.own.last = time.Now().Add(-beatInterval)
	if p.since() < silence {
		t.Error("silence was not noticed")
	}
	p.heard.Store(time.Now().Add(-2 * silence).UnixNano())
	p.own.last = time.Now().Add(-2 * silence) // the checking side itself was stopped
	if p.since() > silence {
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
		"in time":              {[]time.Duration{beatInterval, beatInterval}, 0, silence, silence},
		"early":                {[]time.Duration{beatInterval / 2}, 0, silence, silence},
		"late":                 {[]time.Duration{beatInterval + 100*time.Millisecond}, 0, silence + 2*time.Second, silence + 2*time.Second},
		"late before":          {[]time.Duration{beatInterval + 100*time.Millisecond, beatInterval, beatInterval}, 0, silence + time.Second, silence + 2*time.Second},
		"late long ago":        {append([]time.Duration{2 * beatInterval}, slices.Repeat([]time.Duration{beatInterval}, 100)...), 0, silence, silence + 10*time.Millisecond},
		"the other is late":    {[]time.Duration{beatInterval}, 150, silence + 3*time.Second, silence + 3*time.Second},
		"stopped for an hour":  {[]time.Duration{time.Hour}, 0, silence + lateFactor*lateMost, silence + lateFactor*lateMost},
		"the other tells lies": {[]time.Duration{beatInterval}, 1 << 31, silence + lateFactor*lateMost, silence + lateFactor*lateMost},
	} {
		var p liveness
		p.own.tick(at)
		now := at
		for _, d := range c.ticks {
			now = now.Add(d)
			p.own.tick(now)
		}
		p.take(frame.New(0).U32(uint32(c.told)).Bytes()[frame.HeadSize:])
		if got := p.limit(); got < c.least || got > c.most {
			t.Errorf("%s: %v, want %v to %v", name, got, c.least, c.most)
		}
	}
}
