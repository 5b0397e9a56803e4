package boot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A process finds what another one has published, even if it asks before, and without any call of
// the others. It learns that a process will publish nothing. Its context can end the wait.
func TestXSES01_LookupWaitsForOneProcess(t *testing.T) {
	h := &testHost{size: 3}
	asked := make(chan [2]int, 1)
	h.lookup = func(rank, of int) { asked <- [2]int{rank, of} }
	w := newWorld(t, h)
	for name, b := range map[string][]Boot{"launched": w.boots(), "memory": Memory(3)} {
		done := make(chan error, 1)
		go func() {
			v, err := b[0].Lookup(t.Context(), 1)
			if err == nil && string(v) != "address of 1" {
				err = errors.New("found " + string(v))
			}
			done <- err
		}()
		if name == "launched" {
			if a := <-asked; a != [2]int{0, 1} {
				t.Fatalf("asked %v", a)
			}
			w.sessions[0].Found(1, []byte("address of 1"), "")
		} else if err := b[1].Publish([]byte("address of 1")); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v, err := b[0].Lookup(t.Context(), 1); err != nil || string(v) != "address of 1" { // asks nobody
			t.Errorf("%s: again: %q, %v", name, v, err)
		}
		if err := b[0].Publish(make([]byte, MaxValue+1)); err == nil {
			t.Errorf("%s: a value that is too long was published", name)
		}
		short, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b[0].Lookup(short, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: lookup that was cancelled: %v", name, err)
		}
	}
	<-asked
	w.sessions[0].Found(2, nil, "rank 2 has ended")
	if _, err := w.ranks[0].Lookup(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "rank 2 has ended") {
		t.Errorf("lookup of a process that has ended: %v", err)
	}
}

// The launcher learns who calls Init after a session, who may end, and what is published.
func TestXSES01_LauncherLearnsOfSessions(t *testing.T) {
	h := &testHost{size: 1}
	w := newWorld(t, h)
	b := w.ranks[0]
	for _, err := range []error{b.Publish([]byte("here")), b.InUse(false), b.InUse(true), b.Init(), b.InUse(false)} {
		if err != nil {
			t.Error(err)
		}
	}
	b.link.Close()
	if err := <-w.served[0]; err != nil {
		t.Error(err)
	}
	want := []string{"hello 0", "published 0 here", "in use 0 false", "in use 0 true", "init 0", "in use 0 false"}
	h.mu.Lock()
	if !slices.Equal(h.events, want) {
		t.Errorf("events %q, want %q", h.events, want)
	}
	h.mu.Unlock()
}
