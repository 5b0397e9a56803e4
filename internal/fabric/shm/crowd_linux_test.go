package shm_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/wire"
)

// A process of an oversubscribed node whose launcher has no bell for it does not join: nobody could
// wake it.
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

// A process that gets no descriptor of a peer's bell asks the launcher to wake that peer, and requests
// no further descriptors.
func TestLauncherWakesForWhoHasNoDescriptors(t *testing.T) {
	h := newCrowd(t, 3)
	h.own = true
	f := h.start(t)
	for range 2 {
		for peer := 1; peer < 3; peer++ {
			f[peer].Arm()
			send(t, f[0], peer, 1)
			f[peer].Sleep()
			for f[peer].Poll(new(silent), -1) != 0 {
			}
		}
	}
	if want := []int{1, 2, 1, 2}; h.asked != 1 || !slices.Equal(h.rung, want) {
		t.Errorf("asked for %d bells, and the launcher to wake %v; want 1 and %v", h.asked, h.rung, want)
	}
}

// A process keeps descriptors of bells up to a quarter of those that it may have, and leaves the rest
// to the program.
func TestPeersHaveTheirShareOfDescriptors(t *testing.T) {
	const limit, kept, n = 512, 512 / 4, 512/4 + 3
	var all syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &all); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: all.Max}); err != nil {
		t.Skip(err)
	}
	h := newCrowd(t, n)
	f, err := shm.Open(&process{host: h})
	if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &all); err != nil || e != nil {
		t.Fatal(err, e)
	}
	defer f.Unmap()
	for peer := 1; peer < n; peer++ {
		f.Control().Door(peer).Armed.Store(1) // as Arm does
		f.Ring(peer)
	}
	if want := []int{kept + 1, kept + 2}; h.asked != kept || !slices.Equal(h.rung, want) {
		t.Errorf("asked for %d bells, and the launcher to wake %v; want %d and %v", h.asked, h.rung, kept, want)
	}
}

// silent takes what a fabric delivers, and keeps nothing.
type silent struct{}

func (*silent) Frame(int, *wire.Header, []byte) {}
func (*silent) Place(int, *wire.Header) []byte  { return nil }
func (*silent) Placed(int, *wire.Header)        {}
func (*silent) Down(int, error)                 {}

// Sleeping and waking by bells allocates nothing, and ends the sleep of the peer.
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

// Close ends a sleep in progress and closes the descriptors: package leak counts them.
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
