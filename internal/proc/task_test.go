package proc_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/proc"
)

// A task for which a waiter was woken whose event has happened meanwhile is run by another
// waiter.
func TestTaskIsPassedOn(t *testing.T) {
	events := []*proc.Event{new(proc.Event), new(proc.Event)}
	p, _ := pair(t, 1, events)
	var done [2]chan struct{}
	for i, e := range events {
		done[i] = waiter(p, e, nil)
		until(t, "all park", parked(p, i+1))
	}
	ran := make(chan struct{})
	p.Lock()
	p.AddTask(func() { close(ran) })
	events[0].Fire()
	p.Unlock()
	<-done[0]
	until(t, "the other does it", closed(ran))
	p.Lock()
	events[1].Fire()
	p.Unlock()
	<-done[1]
}
