package proc_test

import (
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// The word of the process's record has a bit for each reason why a receive must not bypass the poller. Peek
// returns a message only if there is no reason.
func TestReasonsAgainstPeekingAreTold(t *testing.T) {
	p, peer := pairOf(t, proc.Policy{Loads: 4, Yields: 4, Yield: runtime.Gosched}, []*proc.Event{{}, {}})
	for polling := false; !polling; { // calls until polling mode begins
		p.Lock()
		p.Progress(-1)
		polling = p.PollingMode()
		p.Unlock()
	}
	send := func() {
		h := wire.Header{Kind: wire.User, Tag: 1}
		peer.Lock()
		if !peer.Send(0, &h, nil) {
			t.Error("a frame is refused")
		}
		peer.Unlock()
	}
	send() // so that the ring is known
	p.Lock()
	p.Progress(-1)
	p.Unlock()
	told := func(reason uint32, begin, end func()) {
		t.Helper()
		send()
		p.Lock()
		defer p.Unlock()
		before := *p.Slow() &^ shmfmt.SlowInterrupt
		begin()
		if *p.Slow()&reason == 0 {
			t.Errorf("the word is %#x, want %#x in it", *p.Slow(), reason)
		}
		if h, _ := p.Peek(1); h != nil {
			t.Errorf("a frame is peeked in spite of %#x", *p.Slow())
		}
		end()
		if *p.Slow()&^shmfmt.SlowInterrupt != before {
			t.Errorf("then the word is %#x, want %#x", *p.Slow(), before)
		}
	}
	told(shmfmt.SlowBusy, func() { p.Later(2); p.Later(-1) }, func() { p.Later(-1) })
	h := wire.Header{Kind: wire.User}
	told(shmfmt.SlowQueued, func() { p.Push(1, &h, nil, nil) }, func() { p.Progress(-1) })
	ran := false
	told(shmfmt.SlowTasks, func() { p.AddTask(func() { ran = true }) }, func() { p.Progress(-1) })
	if !ran {
		t.Error("the task has not run")
	}
	told(shmfmt.SlowPosted, func() { *p.Slow() |= shmfmt.SlowPosted }, func() { *p.Slow() &^= shmfmt.SlowPosted })

	// A waiter that sleeps is a reason, too.
	var e proc.Event
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.Lock()
		p.Wait(&e, -1)
		p.Unlock()
	}()
	for parked := false; !parked; runtime.Gosched() {
		p.Lock()
		parked = p.Parked() > 0
		if parked && *p.Slow()&shmfmt.SlowParked == 0 {
			t.Errorf("a waiter sleeps, and the word is %#x", *p.Slow())
		}
		p.Unlock()
	}
	p.Lock()
	e.Fire()
	p.Unlock()
	<-over
	p.Lock()
	if *p.Slow()&(shmfmt.SlowParked|shmfmt.SlowPolling) != 0 {
		t.Errorf("nobody waits, and the word is %#x", *p.Slow())
	}
	p.Unlock()
}
