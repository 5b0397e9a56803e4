package tcp

import (
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// A long message is sent in runs; but frame by frame after a short message has been sent, or has arrived,
// until there was none for a while. What the protocol of long messages sends changes nothing.
func TestLongMessagesAreSentByFrameBesideShortOnes(t *testing.T) {
	testrun.Covered(t)
	fs := ends(t, raw, 2, limits{})
	meet(t, fs)
	sinks := inboxes(t, 2)
	all := func(n int) { // until n frames have arrived at the second end
		attend(fs, sinks, func() bool { return len(sinks[1].frames[0]) >= n })
	}
	f, peer := fs[0].(rawEnd).Fabric, fs[1].(rawEnd).Fabric
	sent := 0
	long := func(f *Fabric, to int) bool { // whether a long message is sent in runs
		h := wire.Header{Kind: wire.Data}
		n := f.SendRun(to, &h, [][]byte{make([]byte, 2*chunkMax)})
		sent += n / chunkMax
		if n == 2*chunkMax {
			return true
		} else if n != 0 {
			t.Fatalf("%d bytes are sent, want all %d or none", n, 2*chunkMax)
		}
		return false
	}
	send := func(k wire.Kind, size int) {
		t.Helper()
		h := wire.Header{Kind: k, Size: uint32(size)}
		if !f.Send(1, &h, make([]byte, size)) {
			t.Fatal("there is no room for a frame")
		}
		sent++
		all(sent)
	}
	for _, c := range []struct {
		kind wire.Kind
		size int
		want bool // the long message is sent in runs
	}{
		{wire.Ready, 8, true}, {wire.Clear, 0, true}, {wire.Ack, 0, true}, {wire.Credit, 0, true},
		{wire.WinFlush, 0, true}, {wire.WinGet, 8, true}, {wire.Eager, shortMax + 1, true},
		{wire.Eager, 8, false}, {wire.EagerSync, shortMax, false}, {wire.WinPut, 8, false}, {wire.WinCas, 16, false}, {wire.WinAcc, 8, false},
	} {
		send(c.kind, c.size)
		single := 0
		for !long(f, 1) {
			single++
		}
		all(sent)
		if c.want && single != 0 || !c.want && single != mixedFrames {
			t.Errorf("behind a frame of kind %d with %d bytes %d frames of a long message are sent alone, want %d or 0", c.kind, c.size, single, mixedFrames)
		}
	}
	send(wire.Eager, 8)
	if long(peer, 0) {
		t.Error("a process to which a short message has been sent sends a long one in runs")
	}
}

// A turn in which a short message is delivered ends, although more has arrived: the process can answer.
func TestAShortMessageEndsATurn(t *testing.T) {
	testrun.Covered(t)
	for name, mk := range map[string]maker{"plain": raw, "sealed": apart(raw)} {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 2, limits{})
			meet(t, fs)
			const longs = 3 // frames of a long message, of which one read takes less than one
			short := wire.Header{Kind: wire.Eager, Size: 8}
			if !fs[0].Send(1, &short, make([]byte, 8)) {
				t.Fatal("there is no room for a short message")
			}
			for range longs {
				h, b := numbered(0, chunkMax)
				if !fs[0].Send(1, &h, b) {
					t.Fatal("there is no room for a frame")
				}
			}
			s := newInbox(t)
			s.place = always
			for len(s.frames[0]) == 0 {
				fs[1].Poll(s, 0)
			}
			if n := len(s.frames[0]); n != 1 {
				t.Errorf("%d frames are delivered in the turn of a short message, want it alone", n)
			}
			for len(s.frames[0]) < 1+longs {
				fs[1].Poll(s, 0)
			}
		})
	}
}
