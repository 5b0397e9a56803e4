package tcp

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// testTimeout is how long a test waits for an event.
const testTimeout = testrun.Long

// give sends a frame from one end to another. The other polls with a hint until it has the frame.
func give(fs []made, sinks []*inbox, from, to int) {
	h := wire.Header{Kind: wire.User}
	for !fs[from].Send(to, &h, nil) {
		runtime.Gosched()
	}
	for had := len(sinks[to].frames[from]); len(sinks[to].frames[from]) == had; {
		if fs[to].Poll(sinks[to], from) == 0 {
			runtime.Gosched()
		}
	}
}

// outside returns n ends. The first has received so many frames from each other one that it has
// detached as many connections as it may.
func outside(t *testing.T, mk maker, n int) ([]made, []*inbox, *Fabric) {
	fs, sinks := ends(t, mk, n, limits{}), inboxes(t, n)
	meet(t, fs)
	f := fs[0].(rawEnd).Fabric
	f.Disarm()
	for from := 1; from < n; from++ {
		for range 2 * detachAfter { // sweeps, which use epoll, find some of the frames
			give(fs, sinks, from, 0)
		}
	}
	if want := min(n-1, detachedMax); len(f.detached) != want {
		t.Fatalf("%d connections are out of the set, want %d", len(f.detached), want)
	}
	return fs, sinks, f
}

// wakes fails if a frame that has arrived does not end a sleep.
func wakes(t *testing.T, f *Fabric) {
	t.Helper()
	woken := make(chan bool)
	go func() {
		f.Sleep()
		close(woken)
	}()
	hung, stop := testrun.Context(t.Context())
	defer stop()
	select {
	case <-woken:
	case <-hung.Done():
		t.Error("nobody has woken the sleeper")
		f.Wake()
		<-woken
	}
}

// Arm attaches a detached connection again: frames that arrived before, and frames that arrive
// after, end a sleep.
func TestConnectionsOutsideWakeWhoIsArmed(t *testing.T) {
	for name, mk := range map[string]maker{"raw": raw, "sealed": apart(raw)} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{2, 3, detachedMax + 3} {
				fs, sinks, f := outside(t, mk, n)
				for from := 1; from < n; from++ {
					for _, before := range []bool{true, false} {
						h := wire.Header{Kind: wire.User}
						if before {
							fs[from].Send(0, &h, nil)
						}
						f.Arm()
						if len(f.detached) != 0 || slices.ContainsFunc(f.active, func(l *link) bool { return l.detached }) {
							t.Fatal("armed, and the set is not whole")
						}
						if !before {
							fs[from].Send(0, &h, nil)
						}
						wakes(t, f)
						had := len(sinks[0].frames[from])
						attend(fs, sinks, func() bool { return len(sinks[0].frames[from]) > had })
						f.Disarm()
						for range 2 * detachAfter {
							give(fs, sinks, from, 0)
						}
						if !f.routes.At(from).link.detached {
							t.Fatal("not out again")
						}
					}
				}
			}
		})
	}
}

// A poller with a hint at another peer gets the frames of a detached connection.
func TestSweepsReadWhatIsOutside(t *testing.T) {
	fs, sinks, f := outside(t, raw, 3)
	had := len(sinks[0].frames[2])
	h := wire.Header{Kind: wire.User}
	fs[2].Send(0, &h, nil)
	for end := time.Now().Add(testTimeout); len(sinks[0].frames[2]) == had; f.Poll(sinks[0], 1) {
		if time.Now().After(end) {
			t.Fatal("nobody has read it")
		}
	}
}

// No connection is detached while the fabric is armed, however many frames arrive, nor if the
// fabric is armed repeatedly.
func TestNothingLeavesTheSetOfWhoIsArmed(t *testing.T) {
	for _, again := range []bool{false, true} {
		fs, sinks := ends(t, raw, 2, limits{}), inboxes(t, 2)
		meet(t, fs)
		fs[0].Arm()
		for range 3 * detachAfter {
			if again {
				fs[0].Arm()
				fs[0].Disarm()
			}
			give(fs, sinks, 1, 0)
		}
		if f := fs[0].(rawEnd).Fabric; len(f.detached) != 0 {
			t.Errorf("a connection has left the set, armed again %v", again)
		}
	}
}

// A connection that ends while it is detached is lost like any other, and so is one that cannot be
// attached again.
func TestConnectionsOutsideEnd(t *testing.T) {
	for _, died := range []bool{true, false} {
		fs, sinks, f := outside(t, raw, 3)
		if died {
			fs[1].(rawEnd).Kill()
		} else {
			f.set.Add(f.routes.At(1).link.fd, 1) // so that it is there already
			f.Arm()
		}
		for end := time.Now().Add(testTimeout); sinks[0].downs[1] == nil; f.Poll(sinks[0], -1) {
			if time.Now().After(end) {
				t.Fatal("it is not lost")
			}
		}
		if slices.ContainsFunc(f.detached, func(l *link) bool { return l.peer == 1 }) {
			t.Error("what has ended is kept")
		}
		f.Arm()
		f.Poll(sinks[0], -1)
		if sinks[0].downs[2] != nil {
			t.Error("another one is lost, too")
			continue
		}
		give(fs, sinks, 2, 0)
	}
}

// A refused send on a detached connection waits for room in the epoll set after Arm.
func TestConnectionsOutsideWaitForRoom(t *testing.T) {
	fs, sinks, f := outside(t, raw, 2)
	payload := make([]byte, chunkMax)
	h := wire.Header{Kind: wire.User, Size: chunkMax}
	sent := 1
	for f.Send(1, &h, payload) {
		sent++
	}
	if l := f.routes.At(1).link; !l.detached || !l.blocked || l.watched {
		t.Fatalf("out %v, blocked %v, watched %v", l.detached, l.blocked, l.watched)
	}
	f.Arm()
	if !f.routes.At(1).link.watched {
		t.Fatal("nobody waits for room")
	}
	room := make(chan struct{})
	go func() {
		f.Sleep()
		close(room)
	}()
	for done := false; !done; {
		fs[1].Poll(sinks[1], 0)
		select {
		case <-room:
			done = true
		default:
		}
	}
	for !f.Send(1, &h, payload) {
		fs[1].Poll(sinks[1], 0)
	}
	attend(fs, sinks, func() bool { return len(sinks[1].frames[0]) >= sent })
}
