package node_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/nodetest"
)

// A process of an oversubscribed node whose launcher has no bell for it does not join: nobody could
// wake it.
func TestOversubscribedNodeNeedsBells(t *testing.T) {
	h := nodetest.New(t, 2)
	h.Oversubscribe = true
	if _, err := node.Open(&nodetest.Process{Host: h, Rank: 1}); err == nil || !strings.Contains(err.Error(), "bell of process 1") {
		t.Errorf("opened: %v", err)
	}
}

// A peer that sleeps and cannot be woken is lost, and the cause says so.
func TestPeerThatCannotBeWokenIsLost(t *testing.T) {
	h := nodetest.NewOversubscribed(t, 3)
	f := h.Start(t)
	h.Bells = h.Bells[:2]
	f[1].Arm()
	f[2].Arm()
	f[0].Ring(1)
	f[0].Ring(2)
	lost := f[0].TakeLosses()
	if len(lost) != 1 || lost[0].Peer != 2 || !strings.Contains(lost[0].Cause.Error(), "process 2 sleeps and cannot be woken") {
		t.Errorf("lost %v, want process 2, which cannot be woken", lost)
	}
	f[1].Sleep() // it was woken
}

// A process that gets no descriptor of a peer's bell asks the launcher to wake that peer, and requests
// no further descriptors.
func TestLauncherWakesForProcessesWithoutDescriptors(t *testing.T) {
	h := nodetest.NewOversubscribed(t, 3)
	h.KeepBells = true
	f := h.Start(t)
	for range 2 {
		for peer := 1; peer < 3; peer++ {
			f[peer].Arm()
			f[0].Ring(peer)
			f[peer].Sleep()
		}
	}
	if want := []int{1, 2, 1, 2}; h.Asked() != 1 || !slices.Equal(h.Rung(), want) {
		t.Errorf("asked for %d bells, and the launcher to wake %v; want 1 and %v", h.Asked(), h.Rung(), want)
	}
}

// A process keeps descriptors of bells up to a quarter of those that it may have, and leaves the rest
// to the program.
func TestBellsLeaveDescriptorsToTheProgram(t *testing.T) {
	const limit, kept, n = 512, 512 / 4, 512/4 + 3
	var all syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &all); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: all.Max}); err != nil {
		t.Skip(err)
	}
	h := nodetest.NewOversubscribed(t, n)
	f, err := node.Open(&nodetest.Process{Host: h})
	if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &all); err != nil || e != nil {
		t.Fatal(err, e)
	}
	defer f.Release(false)
	for peer := 1; peer < n; peer++ {
		f.Control().Door(peer).Armed.Store(1) // as Arm does
		f.Ring(peer)
	}
	if want := []int{kept + 1, kept + 2}; h.Asked() != kept || !slices.Equal(h.Rung(), want) {
		t.Errorf("asked for %d bells, and the launcher to wake %v; want %d and %v", h.Asked(), h.Rung(), kept, want)
	}
}

// Sleeping and waking by bells allocates nothing, and ends the sleep of the peer.
func TestWakeByBellAllocatesNothing(t *testing.T) {
	f := nodetest.NewOversubscribed(t, 2).Start(t)
	hop := func() {
		f[1].Arm()
		f[0].Ring(1)
		f[1].Sleep()
	}
	hop()
	if n := testing.AllocsPerRun(100, hop); n != 0 {
		t.Errorf("%.1f allocations", n)
	}
}

// Close ends a sleep in progress and closes the descriptors: package leak counts them.
func TestCloseEndsSleepOnABell(t *testing.T) {
	f := nodetest.NewOversubscribed(t, 2).Start(t)
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
