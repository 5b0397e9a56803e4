package link

import (
	"github.com/halo-mpi/halo/internal/wire"
)

// sendSignal sends a notification alone, with the coalesced frame for the target if there is one.
func (l *Link) sendSignal(o *Operation) {
	c := o.channel
	c.quiet = o.at
	if !c.reading(o) && l.releaseThen(c, wire.ThenNotify, uint64(o.Notify-1)) {
		l.finish(o, nil)
		return
	}
	l.Release(c)
	l.enqueue(o)
}

// reading reports whether a get before o is being answered in pieces: only such a get may still
// read the target's memory when a later frame is handled there.
func (c *Channel) reading(o *Operation) bool {
	for x := c.oldest; x != nil && x != o; x = x.next {
		if x.streamed() {
			return true
		}
	}
	return false
}

// noticed marks the frame in l.hdr, which is the next of o, if o has a notification: the last frame
// names the counter.
func (l *Link) noticed(o *Operation) {
	switch {
	case o.Notify == 0:
	case o.moved == o.Size():
		l.hdr.Flags |= wire.ThenNotify
		l.hdr.SetCounter(int(o.Notify - 1))
	default:
		l.hdr.Flags |= wire.Notifies
	}
}
