package proc_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// A process that sleeps over a frame is woken when the sender gives up the lock, or polls. It does not take
// another call of the sender.
func TestPostedFramesWakeSleepers(t *testing.T) {
	events := []*proc.Event{{}, {}, {}}
	a, b := pair(t, shortly, events)
	asleep := func() bool {
		a.Lock()
		defer a.Unlock()
		return a.Armed()
	}
	for tag, way := range []struct {
		name string
		give func()
	}{
		{"Unlock", func() { b.Unlock(); b.Lock() }},
		{"Progress", func() { b.Progress(-1) }},
		{"Wait", func() {
			e := &proc.Event{}
			go func() { b.Lock(); e.Fire(); b.Unlock() }()
			b.Wait(e, -1)
		}},
	} {
		until(t, "a process without work sleeps", asleep)
		b.Lock()
		if !b.Send(0, &wire.Header{Kind: wire.User, Tag: int32(tag)}, nil) {
			t.Fatal("a frame is refused")
		}
		way.give()
		a.Lock()
		if a.Armed() && !events[tag].Done() { // a process that was woken has the frame before it arms again
			t.Errorf("%s leaves a process asleep that a frame waits for", way.name)
		}
		a.Unlock()
		b.Unlock()
		if t.Failed() {
			return
		}
		until(t, "a frame arrives", func() bool {
			a.Lock()
			defer a.Unlock()
			return events[tag].Done()
		})
	}
}
