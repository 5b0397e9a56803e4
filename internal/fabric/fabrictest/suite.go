package fabrictest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/leak"
)

// Killer is a fabric that can end as if its process were killed: nothing is
// flushed, and peers see it Down. Without it the suite uses Close.
type Killer interface {
	fabric.Fabric
	// Kill is called with the engine's lock held.
	Kill()
}

// Injector is a fabric that can act as a hostile peer.
type Injector interface {
	fabric.Fabric
	// Inject sends peer `to` something that no correct peer sends.
	Inject(to int, r *rand.Rand)
}

// Run runs the suite, or only the tests named. open makes the fabrics of a job of
// n processes, by rank, ready to send to each other; the suite closes them.
func Run(t *testing.T, open func(t testing.TB, n int) []fabric.Fabric, only ...string) {
	RunPart(t, 1, open, only...)
}

// RunPart is Run with one part-th of the repetitions: for a fabric that is slow, or that shares
// most of its code with one that runs all.
func RunPart(t *testing.T, part int, fabrics func(t testing.TB, n int) []fabric.Fabric, only ...string) {
	open := opener{fabrics, part}
	known := 0
	for _, c := range []struct {
		name string
		run  func(*testing.T, opener)
	}{
		{"Limits", testLimits},
		{"OrderAndIntegrity", testOrderAndIntegrity},
		{"AllToAll", testAllToAll},
		{"SendInsideFrame", testSendInsideFrame},
		{"NoAllocationPerFrame", testNoAllocationPerFrame},
		{"BackPressure", testBackPressure},
		{"BothSidesBlocked", testBothSidesBlocked},
		{"RefusedSendEndsSleep", testRefusedSendEndsSleep},
		{"FrameEndsSleep", testFrameEndsSleep},
		{"ServiceStandsIn", testServiceStandsIn},
		{"WakeEndsSleep", testWakeEndsSleep},
		{"CloseEndsSleep", testCloseEndsSleep},
		{"CloseLosesNothing", testCloseLosesNothing},
		{"FloodStarvesNobody", testFloodStarvesNobody},
		{"Death", testDeath},
		{"HostilePeer", testHostilePeer},
	} {
		if len(only) > 0 && !slices.Contains(only, c.name) {
			continue
		}
		known++
		before := leak.Take()
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
		if left := before.Left(); left != "" {
			t.Errorf("%s left behind: %s", c.name, left)
		}
	}
	if len(only) > 0 && known != len(only) {
		t.Fatalf("the suite has %d of the tests %v", known, only)
	}
}

// An opener makes the fabrics of a test.
type opener struct {
	fabrics func(t testing.TB, n int) []fabric.Fabric
	part    int // one part-th of the repetitions is made
}
