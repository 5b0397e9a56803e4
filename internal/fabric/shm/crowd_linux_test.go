package shm_test

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/wire"
)

// A process of a crowd whose launcher has no bell for it does not join: nobody could wake it.
func TestCrowdWithoutABell(t *testing.T) {
	h := newHost(t, 2)
	h.cores = -1
	if _, err := shm.Open(&process{host: h, rank: 1}); err == nil || !strings.Contains(err.Error(), "bell of process 1") {
		t.Errorf("opened: %v", err)
	}
}

// A peer that sleeps and cannot be woken is lost, and the cause says so.
func TestPeerThatCannotBeWokenIsDown(t *testing.T) {
	h := newCrowd(t, 3)
	f := h.start(t)
	h.bells = h.bells[:2]
	f[1].Arm()
	f[2].Arm()
	send(t, f[0], 1, 1)
	send(t, f[0], 2, 1)
	var s tally
	f[0].Poll(&s, -1)
	f[0].Poll(&s, -1)
	if len(s.downs) != 1 || s.downs[0] != 2 || !strings.Contains(s.causes[0].Error(), "process 2 sleeps and cannot be woken") {
		t.Errorf("downs %v, causes %v, want [2] for a process that cannot be woken", s.downs, s.causes)
	}
	f[1].Sleep() // it was woken
}

// silent takes what a fabric delivers, and keeps nothing.
type silent struct{}

func (*silent) Frame(int, *wire.Header, []byte) {}
func (*silent) Place(int, *wire.Header) []byte  { return nil }
func (*silent) Placed(int, *wire.Header)        {}
func (*silent) Down(int, error)                 {}

// Sleeping and waking in a crowd allocates nothing, and ends the sleep of the peer.
func TestNoAllocationOfAHopInACrowd(t *testing.T) {
	f := newCrowd(t, 2).start(t)
	s := new(silent)
	hop := func() {
		f[1].Arm()
		send(t, f[0], 1, 1)
		f[1].Sleep()
		for f[1].Poll(s, -1) != 0 {
		}
	}
	hop()
	if n := testing.AllocsPerRun(100, hop); n != 0 {
		t.Errorf("%.1f allocations", n)
	}
}

// Close ends a sleep under way and gives the descriptors back: package leak counts them.
func TestCloseEndsTheSleepOfACrowd(t *testing.T) {
	f := newCrowd(t, 2).start(t)
	done := make(chan struct{})
	go func() {
		f[0].Sleep()
		close(done)
	}()
	if err := f[0].Close(); err != nil {
		t.Error(err)
	}
	<-done
	f[0].Sleep()
	f[0].Wake()
	f[1].Ring(0)
}
