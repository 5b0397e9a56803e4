package sys

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
)

// bellFiles returns a Sleeper and a Waker of one bell, each with a descriptor of its own, as in two
// processes.
func bellFiles(t *testing.T) (*Sleeper, *Waker) {
	t.Helper()
	f, err := NewBellFile()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	received := func() *os.File {
		g, err := Dup(f)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	s, err := NewSleeper(received())
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewWaker(received())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); r.Close() })
	return s, r
}

// Two goroutines wake each other in turn: a wake is never lost, whether it comes before the sleep
// or within it.
func TestSleepersAndWakersTakeTurns(t *testing.T) {
	const turns = 20000
	var words [2]atomic.Uint32
	s0, r0 := bellFiles(t)
	s1, r1 := bellFiles(t)
	go func() {
		for i := range uint32(turns) {
			if err := s1.Sleep(&words[1], i); err != nil {
				t.Error(err)
			}
			words[0].Add(1)
			if err := r0.Wake(); err != nil {
				t.Error(err)
			}
		}
	}()
	for i := range uint32(turns) {
		words[1].Add(1)
		if err := r1.Wake(); err != nil {
			t.Fatal(err)
		}
		if err := s0.Sleep(&words[0], i); err != nil {
			t.Fatal(err)
		}
	}
}

// The process that made the file wakes the Sleeper with it.
func TestRingBell(t *testing.T) {
	f, err := NewBellFile()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := Dup(f)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSleeper(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var word atomic.Uint32
	done := make(chan error)
	go func() { done <- s.Sleep(&word, 0) }()
	word.Add(1)
	if err := RingBell(f); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	f.Close()
	if RingBell(f) == nil {
		t.Error("a closed file is rung")
	}
}

// Old wakes do not end a sleep whose word has not changed, and cost no memory.
func TestWakesWithoutNews(t *testing.T) {
	s, r := bellFiles(t)
	var word atomic.Uint32
	if n := testing.AllocsPerRun(100, func() {
		for range 3 {
			if r.Wake() != nil || s.Wake() != nil {
				t.Fatal("cannot be woken")
			}
		}
		seen := word.Add(1) - 1
		if err := s.Sleep(&word, seen); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%.1f allocations", n)
	}
	done, seen := make(chan struct{}), word.Load()
	go func() {
		s.Sleep(&word, seen)
		close(done)
	}()
	for range 100 {
		r.Wake()
	}
	select {
	case <-done:
		t.Error("the sleep ended, and the word is what it was")
	default:
	}
	word.Add(1)
	r.Wake()
	<-done
}

func TestCloseEndsASleep(t *testing.T) {
	s, r := bellFiles(t)
	var word atomic.Uint32
	ended := make(chan error)
	go func() { ended <- s.Sleep(&word, 0) }()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("the word is what it was, and Sleep returned no error")
	}
	if s.Sleep(&word, 0) == nil || s.Wake() == nil {
		t.Error("a closed Sleeper sleeps or is woken")
	}
	if err := r.Wake(); err != nil { // a Waker does not see that the Sleeper is closed
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Wake(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed Rouser: %v", err)
	}
	if err := r.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestSleeperRefusesWhatThePollerCannotWatch(t *testing.T) {
	f, err := Memfd("halo-test-no-bell", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s, err := NewSleeper(f); err == nil {
		s.Close()
		t.Error("a file of memory is a bell")
	}
}
