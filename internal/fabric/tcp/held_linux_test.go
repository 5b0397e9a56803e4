package tcp

import (
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// heldCases calls do with two ends that have met, within a host and between hosts.
func heldCases(t *testing.T, do func(t *testing.T, from *Fabric, fs []made)) {
	for name, mk := range map[string]maker{"plain": raw, "sealed": apart(raw)} {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 2, limits{})
			meet(t, fs)
			from := fs[0].(rawEnd).Fabric
			from.calls = 0
			do(t, from, fs)
		})
	}
}

// numbered is a frame of n bytes with a number.
func numbered(i, n int) (wire.Header, []byte) {
	return wire.Header{Kind: wire.User, Tag: int32(i), Size: uint32(n)}, make([]byte, n)
}

// holdAll holds frames of 8 bytes with the numbers from first to last.
func holdAll(t *testing.T, f *Fabric, first, last int) {
	t.Helper()
	for i := first; i <= last; i++ {
		if h, b := numbered(i, 8); !f.Hold(1, &h, b) {
			t.Fatalf("frame %d is not held", i)
		}
	}
}

// arrive polls the second end until the frames with the numbers 0 to n-1 have arrived in this order.
func arrive(t *testing.T, fs []made, n int) {
	t.Helper()
	sinks := inboxes(t, 2)
	attend(fs[1:], sinks[1:], func() bool { return len(sinks[1].frames[0]) >= n })
	for i, a := range sinks[1].frames[0] {
		if int(a.h.Tag) != i {
			t.Fatalf("frame %d arrives as number %d of %d", a.h.Tag, i, n)
		}
	}
}

// Frames that are held leave together: in Release, or with the next frame to the peer.
func TestHeldFramesLeaveTogether(t *testing.T) {
	heldCases(t, func(t *testing.T, f *Fabric, fs []made) {
		holdAll(t, f, 0, 7)
		if f.calls != 0 {
			t.Fatalf("%d system calls for frames that are held", f.calls)
		}
		f.Release(1)
		f.Release(1)
		if f.calls != 1 || len(f.holding) != 0 {
			t.Errorf("%d system calls for 8 held frames, want 1; %d links hold frames", f.calls, len(f.holding))
		}
		holdAll(t, f, 8, 14)
		if h, b := numbered(15, 8); !f.Send(1, &h, b) || f.calls != 2 {
			t.Errorf("%d system calls for 7 held frames and the next, want 1", f.calls-1)
		}
		arrive(t, fs, 16)
	})
}

// Held frames leave before those that are sent later, long ones and runs of them among these.
func TestHeldFramesKeepTheirOrder(t *testing.T) {
	heldCases(t, func(t *testing.T, f *Fabric, fs []made) {
		holdAll(t, f, 0, 2)
		sendNumbered(t, f, 3, 8)
		holdAll(t, f, 4, 4)
		sendNumbered(t, f, 5, chunkMax)
		holdAll(t, f, 6, 6)
		h, long := numbered(7, 2*chunkMax)
		if n := f.SendRun(1, &h, [][]byte{long}); n == 0 { // sealed frames are not sent in runs
			sendNumbered(t, f, 7, chunkMax)
		}
		sinks := inboxes(t, 2)
		attend(fs[1:], sinks[1:], func() bool { return len(sinks[1].frames[0]) >= 8 })
		for i, a := range sinks[1].frames[0][:8] {
			if int(a.h.Tag) != i {
				t.Fatalf("frame %d arrives as number %d", a.h.Tag, i)
			}
		}
	})
}

// sendNumbered sends a frame of n bytes with a number. There is room for it.
func sendNumbered(t *testing.T, f *Fabric, i, n int) {
	t.Helper()
	for h, b := numbered(i, n); !f.Send(1, &h, b); {
		f.Poll(newInbox(t), -1)
	}
}

// A process that is about to sleep has sent what was held; so has one that closes.
func TestHeldFramesLeaveBeforeSleep(t *testing.T) {
	heldCases(t, func(t *testing.T, f *Fabric, fs []made) {
		holdAll(t, f, 0, 3)
		f.Arm()
		if f.calls != 1 {
			t.Fatalf("%d system calls in Arm for 4 held frames, want 1", f.calls)
		}
		f.Disarm()
		holdAll(t, f, 4, 7)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		arrive(t, fs, 8)
	})
}

// Held frames for which there is no room leave when the peer reads, and none is sent before them: the peer
// does not read until frames are refused. No more than one buffer of them is held.
func TestHeldFramesWaitForRoom(t *testing.T) {
	testrun.Covered(t)
	for name, mk := range map[string]maker{"plain": raw, "sealed": apart(raw)} {
		t.Run(name, func(t *testing.T) {
			fs := ends(t, mk, 2, limits{buffer: 16 << 10})
			meet(t, fs)
			f, n := fs[0].(rawEnd).Fabric, 0
			for refused := 0; refused < 3; n++ {
				h, b := numbered(n, 1000)
				if !f.Hold(1, &h, b) && !f.Send(1, &h, b) {
					refused++
					n-- // it is the next one again
				}
			}
			if l := f.routes.At(1).link; len(l.held) > wire.RecordMax || len(f.holding) != 1 {
				t.Errorf("%d bytes are held, at most %d may be; %d links hold frames", len(l.held), wire.RecordMax, len(f.holding))
			}
			sinks := inboxes(t, 2)
			attend(fs, sinks, func() bool { return len(sinks[1].frames[0]) >= n })
			for i, a := range sinks[1].frames[0] {
				if int(a.h.Tag) != i {
					t.Fatalf("frame %d arrives as number %d", a.h.Tag, i)
				}
			}
			if len(f.holding) != 0 {
				t.Errorf("%d links hold frames when all have arrived", len(f.holding))
			}
		})
	}
}

// An answering is a sink that answers each frame.
type answering struct {
	*inbox
	f *Fabric
}

func (s answering) Frame(from int, h *wire.Header, payload []byte) {
	s.inbox.Frame(from, h, payload)
	for answer, b := numbered(int(h.Tag), 8); !s.f.Send(from, &answer, b); {
		s.t.Fatal("there is no room for an answer")
	}
}

// What the sink answers to the frames of one read leaves by one system call.
func TestAnswersToOneReadLeaveTogether(t *testing.T) {
	heldCases(t, func(t *testing.T, f *Fabric, fs []made) {
		peer := fs[1].(rawEnd).Fabric
		peer.calls = 0
		holdAll(t, f, 0, 7)
		f.Release(1)
		s := answering{newInbox(t), peer}
		for len(s.frames[0]) < 8 {
			peer.Poll(s, 0)
		}
		if peer.calls != 1 || len(peer.holding) != 0 {
			t.Errorf("%d system calls for 8 answers, want 1; %d links hold frames", peer.calls, len(peer.holding))
		}
		sinks := inboxes(t, 2)
		attend(fs[:1], sinks, func() bool { return len(sinks[0].frames[1]) >= 8 })
	})
}

// Frames that are held, and answers to them, allocate nothing.
func TestHeldFramesAllocateNothing(t *testing.T) {
	heldCases(t, func(t *testing.T, f *Fabric, fs []made) {
		s, h, b := &count{}, wire.Header{Kind: wire.User, Size: 8}, make([]byte, 8)
		if n := testing.AllocsPerRun(200, func() {
			want := s.frames + 8
			for range 8 {
				f.Hold(1, &h, b)
			}
			f.Release(1)
			for s.frames < want {
				fs[1].Poll(s, 0)
			}
		}); n > 0 && !testrun.Race {
			t.Errorf("%v allocations for 8 held frames", n)
		}
	})
}
