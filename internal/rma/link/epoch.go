package link

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Epochs in one frame, the origin's side
//
// A WinEpoch asks a target for its lock, carries the one operation of the epoch, and gives the lock back. One frame
// answers: a WinDone when the epoch is over, or a WinGrant when the lock was not free at once. In the second case the
// target has dropped the operation, and ResumeEpoch sends it again when the lock has come.

// epoch is the epoch in one frame that is under way to a target.
type epoch struct {
	at        uint64     // its number, 0 if there is none
	operation *Operation // nil if there is none
}

// TakesEpoch reports whether an epoch in one frame can be sent to t: nothing else is under way there.
func (l *Link) TakesEpoch(t *Target) bool {
	c, q := &t.main, l.peers.At(int(t.Process))
	return len(t.others) == 0 && c.bundle == nil && c.Idle() && !q.stuck && q.requests < RequestsMax &&
		l.p.DownCause(int(t.Process)) == nil
}

// SendEpoch sends an epoch in one frame to t, which takes it, with an operation, which may be nil: contiguous and of at most
// ShortMax bytes.
func (l *Link) SendEpoch(t *Target, o *Operation, exclusive bool) {
	c := &t.main
	c.issued++
	c.quiet, c.asked, c.wanted = c.issued, c.issued, c.issued
	t.epoch = epoch{c.issued, o}
	l.peers.At(int(t.Process)).requests++
	payload := l.frameEpoch(t, o, exclusive)
	l.hdr.Size = uint32(len(payload))
	l.p.Queue(int(t.Process), &l.hdr, payload, nil)
}

// frameEpoch makes l.hdr the header of the WinEpoch of t, and returns its payload, which
// belongs to the operation.
func (l *Link) frameEpoch(t *Target, o *Operation, exclusive bool) (payload []byte) {
	h := wire.Header{Kind: wire.WinEpoch, Ctx: t.window, Name: t.epoch.at}
	if o != nil {
		l.head(o)
		h.Tag, h.Arg, h.Aux = int32(l.hdr.Kind), l.hdr.Arg, l.hdr.Aux
		if o.Fetches() {
			h.Flags |= wire.Fetches
		}
		switch {
		case o.Kind == operation.CompareAndSwap:
			n := len(o.Compare)
			payload = o.short[1][:2*n] // compare is its beginning
			o.Origin.Pack(payload[n:], 0)
		case !o.Sends():
			binary.LittleEndian.PutUint64(o.few[:], uint64(o.Size()))
			payload = o.few[:]
		default:
			payload, _ = o.Origin.Bytes() // it fits
		}
	}
	if exclusive {
		h.Flags |= wire.Exclusive
	}
	l.hdr = h
	return payload
}

// AwaitEpoch waits for the end of the epoch that was sent last, and returns its error. about says who waits.
func (l *Link) AwaitEpoch(t *Target, about proc.About) error {
	// What ResumeEpoch sends has higher numbers: every operation must be complete here, and the
	// WinDone for its WinUnlock covers this number, too.
	err := l.waitMark(&t.main, mark{at: math.MaxUint64, done: t.epoch.at}, false, about)
	if o := t.epoch.operation; o != nil { // the target has died
		l.End(o, nil)
	}
	t.epoch = epoch{}
	return err
}

// EpochUnderWay reports whether an epoch in one frame has no answer yet.
func (t *Target) EpochUnderWay() bool { return t.epoch.at != 0 }

// ResumeEpoch continues an epoch that has found the lock taken, when it gets the lock: it sends the operation, and gives the
// lock back. With an error the epoch cannot have the lock, and ends. It reports whether there was an operation to send.
func (l *Link) ResumeEpoch(t *Target, err error) bool {
	c, o := &t.main, t.epoch.operation
	l.peers.At(int(t.Process)).requests--
	t.epoch = epoch{}
	if err != nil {
		c.fault = cmp.Or(c.fault, err)
		if o != nil {
			l.End(o, nil)
		}
		c.done = c.asked
		c.notify()
		return false
	}
	sends := o != nil && !planted.EpochForgotten
	if sends {
		l.Send(o)
	}
	l.SendUnlock(t)
	return sends
}

// epochTold takes the answer to the WinEpoch of t. It reports false if no correct target sends it.
func (l *Link) epochTold(t *Target, h *wire.Header, payload []byte) bool {
	o := t.epoch.operation
	if h.Flags&wire.Faulty == 0 {
		want := 0
		if o != nil && o.Fetches() {
			want = int(o.Size())
		}
		if len(payload) != want {
			return false
		}
		if want > 0 {
			o.Deliver(payload, 0)
		}
	}
	t.epoch = epoch{}
	l.host.EpochDone(t)
	if o != nil {
		l.End(o, nil)
	}
	return true
}
