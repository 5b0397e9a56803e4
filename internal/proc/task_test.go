package proc_test

import (
	"errors"
	"math"
	"sync/atomic"
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

// A goroutine that waits apart sleeps until its event has happened. Tasks are left to waiters of the program.
func TestWaitersApartAreNotAsked(t *testing.T) {
	events := []*proc.Event{new(proc.Event), new(proc.Event)}
	p, peer := pair(t, 1, events)
	apart := make(chan struct{})
	go func() {
		p.Lock()
		p.WaitApart(events[0])
		p.Unlock()
		close(apart)
	}()
	until(t, "it parks", parked(p, 1))
	done := waiter(p, events[1], nil)
	until(t, "the waiter parks", parked(p, 2))
	ran := make(chan struct{})
	p.Lock()
	p.AddTask(func() { close(ran) })
	p.Unlock()
	until(t, "the waiter does it", closed(ran))
	fire(peer, 0)
	until(t, "the event wakes who waits apart", closed(apart))
	fire(peer, 1)
	until(t, "the event wakes the waiter", closed(done))
}

// A goroutine that waits apart for a word is woken by the process that stores the word and rings, also when
// nobody polls, and by the failure of a process.
func TestWaitersApartWatchWords(t *testing.T) {
	p, peer := pair(t, 1, nil)
	var e proc.Event
	var word atomic.Uint64
	var sleepers atomic.Uint32
	for i := range uint64(50) {
		woken := make(chan struct{})
		p.Lock()
		e.Watch(&word, i+1, &sleepers)
		p.Unlock()
		go func() {
			p.Lock()
			p.WaitApart(&e)
			p.Unlock()
			close(woken)
		}()
		if i%2 == 0 {
			until(t, "it parks", parked(p, 1))
		}
		word.Store(i + 1)
		if sleepers.Load() != 0 {
			peer.Node().Ring(0)
		}
		until(t, "the word wakes it", closed(woken))
	}
	woken := make(chan struct{})
	p.Lock()
	e.Watch(&word, math.MaxUint64, &sleepers)
	p.Unlock()
	go func() {
		p.Lock()
		p.WaitApart(&e)
		p.Unlock()
		close(woken)
	}()
	until(t, "it parks", parked(p, 1))
	p.Lock()
	p.SetDown(1, errors.New("it has failed"))
	p.Unlock()
	until(t, "the failure wakes it", closed(woken))
}
