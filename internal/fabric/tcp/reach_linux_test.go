package tcp

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// kernel simulates the kernel's side of a connection in virtual time: it sends data,
// sends it again after growing pauses, and receives acknowledgements.
type kernel struct {
	heard, said, next time.Duration // last acknowledgement, last sending, next sending
	pause             time.Duration
	owed              bool
	tries             uint8
}

func (k *kernel) send(now time.Duration) {
	if !k.owed {
		k.owed, k.said, k.pause = true, now, 200*time.Millisecond
		k.next = now + k.pause
	}
}

// pass advances the time to now; answers reports whether data sent at a time is acknowledged.
func (k *kernel) pass(now time.Duration, answers func(at time.Duration) bool) {
	for k.owed {
		if answers(k.said) {
			k.owed, k.heard, k.tries = false, k.said, 0
			return
		}
		if k.next > now {
			return
		}
		k.said, k.pause = k.next, 2*k.pause
		k.next += k.pause
		k.tries++
	}
}

// live runs the check of reach from start until it reports the host dead, or until end.
func live(start, end time.Duration, sends []time.Duration, answers func(at time.Duration) bool) (dead time.Duration) {
	l := limits{}.defaults()
	epoch := time.Now()
	var r reach
	k := kernel{}
	for now := start; now < end; now += l.beat {
		for len(sends) > 0 && sends[0] <= now {
			k.pass(sends[0], answers)
			k.send(sends[0])
			sends = sends[1:]
		}
		k.pass(now, answers)
		ask, gone := r.update(epoch.Add(now), reading{
			owed: k.owed, sinceAck: now - k.heard, sinceSent: now - k.said, tries: k.tries, freshFor: l.beat / 2, silence: l.silence,
		})
		if gone {
			return now
		}
		if ask {
			k.send(now)
		}
	}
	return 0
}

// Whenever the cable is cut, and whatever was sent before, the check reports it within the
// bound of promise F1, less the time to tell all processes.
func TestF1WatchKeepsTheBound(t *testing.T) {
	const bound = 1900 * time.Millisecond
	for cut := time.Duration(0); cut < 3*time.Second; cut += 7 * time.Millisecond {
		for start := time.Duration(0); start < 200*time.Millisecond; start += 13 * time.Millisecond {
			for _, sends := range [][]time.Duration{nil, {cut - 5*time.Millisecond}, {cut + time.Millisecond}, {cut + 250*time.Millisecond}} {
				dead := live(start, 20*time.Second, sends, func(at time.Duration) bool { return at < cut })
				if dead == 0 || dead < cut || dead-cut > bound {
					t.Fatalf("cut at %v, looked at from %v on, sent at %v: noticed at %v", cut, start, sends, dead)
				}
			}
		}
	}
}

// answered asks the kernel whether another host has answered. A clock cannot tell, because
// this process may have been stopped itself.
func TestAnsweredIsKnownWithoutLooking(t *testing.T) {
	ln, err := listen(job(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var socket syscall.RawConn
	conn, err := connect(t.Context(), ln.addr(), func(c syscall.RawConn) error {
		socket = c
		if answered(c) {
			t.Error("answered before it was called")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !answered(socket) {
		t.Error("not answered although connected")
	}
	conn.Close()
	if answered(socket) {
		t.Error("answered after it was closed")
	}
}

// A host that answers every third attempt does not count as dead, however long the
// connection was idle before.
func TestWatchForgivesLosses(t *testing.T) {
	n := 0
	last := time.Duration(-1)
	if dead := live(0, time.Hour, nil, func(at time.Duration) bool {
		if at != last {
			last = at
			n++
		}
		return n%3 == 0
	}); dead != 0 {
		t.Errorf("a host that answers every third time is given up after %v", dead)
	}
}

// A peer with a closed window that answers the kernel's window probes, which come at growing
// intervals, does not count as dead.
func TestWatchIsPatientWithClosedWindows(t *testing.T) {
	now := time.Now()
	var r reach
	for heard := time.Duration(0); heard < time.Minute; heard += 100 * time.Millisecond {
		m := reading{full: true, sinceAck: heard, sinceSent: heard, probes: uint8(heard / (20 * time.Second)), freshFor: 100 * time.Millisecond, silence: time.Second}
		if ask, dead := r.update(now.Add(heard), m); ask || dead {
			t.Fatalf("ask %t, dead %t after %v", ask, dead, heard)
		}
	}
	if _, dead := r.update(now, reading{full: true, sinceAck: 2 * time.Second, probes: 3, silence: time.Second}); !dead {
		t.Error("three questions without an answer are not enough")
	}
}

// looks counts the uses of a socket that never connects.
type looks struct{ n int }

func (l *looks) Control(f func(fd uintptr)) error  { l.n++; f(^uintptr(0)); return nil }
func (l *looks) Read(func(fd uintptr) bool) error  { return nil }
func (l *looks) Write(func(fd uintptr) bool) error { return nil }

// limitCall gives up a call without an answer once, and does not check a call that has ended:
// a job of many hosts would check the calls to all of them in the middle of its work.
func TestCallsAreLookedAtWhileTheyGoOn(t *testing.T) {
	for _, ends := range []time.Duration{0, 99 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var l looks
			given := 0
			limitCall(ctx, &l, 100*time.Millisecond, func() { given++ })
			time.Sleep(ends)
			cancel()
			time.Sleep(time.Second)
			synctest.Wait()
			want := 0
			if ends == time.Second {
				want = 1
			}
			if l.n != want || given != want {
				t.Errorf("a call that ended after %v was looked at %d times and given up %d times, want %d", ends, l.n, given, want)
			}
		})
	}
}
