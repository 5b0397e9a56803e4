package tcp

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/wire"
)

// patience is until when a test believes in what does not come.
const patience = time.Minute

// give sends a frame from one end to another, and has the other poll with its hint until it
// has that.
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

// outside is n ends of which the first has had so many frames from each other, one by one,
// that it has taken those out of its set that may be out.
func outside(t *testing.T, mk maker, n int) ([]made, []*inbox, *Fabric) {
	fs, sinks := ends(t, mk, n, limits{}), inboxes(t, n)
	meet(t, fs)
	f := fs[0].(rawEnd).Fabric
	f.Disarm()
	for from := 1; from < n; from++ {
		for range 2 * outAfter { // some are found by a sweep, which asks
			give(fs, sinks, from, 0)
		}
	}
	if want := min(n-1, outMost); len(f.outside) != want {
		t.Fatalf("%d connections are out of the set, want %d", len(f.outside), want)
	}
	return fs, sinks, f
}

// wakes fails if a sleeper does not see that something has come.
func wakes(t *testing.T, f *Fabric) {
	t.Helper()
	woken := make(chan bool)
	go func() {
		f.Sleep()
		close(woken)
	}()
	select {
	case <-woken:
	case <-time.After(patience):
		t.Error("nobody has woken the sleeper")
		f.Wake()
		<-woken
	}
}

// A connection that is out of the set is in it again when the fabric is armed: what came
// before, and what comes behind, wakes who sleeps.
func TestConnectionsOutsideWakeWhoIsArmed(t *testing.T) {
	for name, mk := range map[string]maker{"raw": raw, "sealed": apart(raw)} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{2, 3, outMost + 3} {
				fs, sinks, f := outside(t, mk, n)
				for from := 1; from < n; from++ {
					for _, before := range []bool{true, false} {
						h := wire.Header{Kind: wire.User}
						if before {
							fs[from].Send(0, &h, nil)
						}
						f.Arm()
						if len(f.outside) != 0 || slices.ContainsFunc(f.active, func(l *link) bool { return l.out }) {
							t.Fatal("armed, and the set is not whole")
						}
						if !before {
							fs[from].Send(0, &h, nil)
						}
						wakes(t, f)
						had := len(sinks[0].frames[from])
						attend(fs, sinks, func() bool { return len(sinks[0].frames[from]) > had })
						f.Disarm()
						for range 2 * outAfter {
							give(fs, sinks, from, 0)
						}
						if !f.links[from].out {
							t.Fatal("not out again")
						}
					}
				}
			}
		})
	}
}

// A poller that does not expect anything of a connection that is out sees what comes there.
func TestSweepsReadWhatIsOutside(t *testing.T) {
	fs, sinks, f := outside(t, raw, 3)
	had := len(sinks[0].frames[2])
	h := wire.Header{Kind: wire.User}
	fs[2].Send(0, &h, nil)
	for end := time.Now().Add(patience); len(sinks[0].frames[2]) == had; f.Poll(sinks[0], 1) {
		if time.Now().After(end) {
			t.Fatal("nobody has read it")
		}
	}
}

// While the fabric is armed nothing leaves the set, however much comes, nor of one that is armed
// again and again.
func TestNothingLeavesTheSetOfWhoIsArmed(t *testing.T) {
	for _, again := range []bool{false, true} {
		fs, sinks := ends(t, raw, 2, limits{}), inboxes(t, 2)
		meet(t, fs)
		fs[0].Arm()
		for range 3 * outAfter {
			if again {
				fs[0].Arm()
				fs[0].Disarm()
			}
			give(fs, sinks, 1, 0)
		}
		if f := fs[0].(rawEnd).Fabric; len(f.outside) != 0 {
			t.Errorf("a connection has left the set, armed again %v", again)
		}
	}
}

// A connection that ends while it is out is lost as any other, and so is one that the set does
// not take back.
func TestConnectionsOutsideEnd(t *testing.T) {
	for _, died := range []bool{true, false} {
		fs, sinks, f := outside(t, raw, 3)
		if died {
			fs[1].(rawEnd).Kill()
		} else {
			f.set.Add(f.links[1].fd, 1) // so that it is there already
			f.Arm()
		}
		for end := time.Now().Add(patience); sinks[0].downs[1] == nil; f.Poll(sinks[0], -1) {
			if time.Now().After(end) {
				t.Fatal("it is not lost")
			}
		}
		if slices.ContainsFunc(f.outside, func(l *link) bool { return l.peer == 1 }) {
			t.Error("what has ended is kept")
		}
		f.Arm()
		if f.Poll(sinks[0], -1); sinks[0].downs[2] != nil {
			t.Error("another one is lost, too")
			continue
		}
		give(fs, sinks, 2, 0)
	}
}

// Who waits for room to write on a connection that is out waits for it in the set once he is
// armed.
func TestConnectionsOutsideWaitForRoom(t *testing.T) {
	fs, sinks, f := outside(t, raw, 2)
	payload := make([]byte, chunkMax)
	h := wire.Header{Kind: wire.User, Size: chunkMax}
	sent := 1
	for f.Send(1, &h, payload) {
		sent++
	}
	if l := f.links[1]; !l.out || !l.blocked || l.watched {
		t.Fatalf("out %v, blocked %v, watched %v", l.out, l.blocked, l.watched)
	}
	f.Arm()
	if !f.links[1].watched {
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
