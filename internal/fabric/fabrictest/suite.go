// Package fabrictest is the suite that every fabric passes: what package fabric
// promises, as tests. A fabric's own test calls Run with a way to make the
// fabrics of one job.
//
// Each fabric is driven as the engine would drive it: by a goroutine of its own,
// under a lock of its own, sleeping without any idle time, so that a lost
// wake-up is a hang, which a watchdog reports with what every rank was doing.
package fabrictest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
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
		{"IdleEndsSleep", testIdleEndsSleep},
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
		before := takeStock()
		t.Run(c.name, func(t *testing.T) { c.run(t, open) })
		before.check(t, c.name)
	}
	if len(only) > 0 && known != len(only) {
		t.Fatalf("the suite has %d of the tests %v", known, only)
	}
}

type opener func(t testing.TB, n int) []fabric.Fabric

// stock is what a test must not leave behind.
type stock struct {
	goroutines  int
	descriptors int
	mappings    int // of shared memory
}

func takeStock() stock {
	s := stock{goroutines: runtime.NumGoroutine()}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil { // Linux; elsewhere only goroutines are counted
		s.descriptors = len(open)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		s.mappings = bytes.Count(maps, []byte("memfd:"))
	}
	return s
}

// check waits until what the test used is gone; goroutines may take a moment.
func (s stock) check(t *testing.T, name string) {
	t.Helper()
	for range 500 {
		now := takeStock()
		if now.goroutines <= s.goroutines && now.descriptors <= s.descriptors && now.mappings <= s.mappings {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	now := takeStock()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	t.Errorf("%s left %+v, there was %+v before; goroutines now:\n%s", name, now, s, stacks)
}
