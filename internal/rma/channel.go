package rma

import "github.com/halo-mpi/halo/internal/planted"

// channel is one of the ways to a target by frames: a line of operations with numbers of
// its own, and what is known of how far they are. An operation belongs to one channel. All
// views of a window share the main channel of each target, but for those of thread scope,
// each of which has one more: so that its flush waits for its own operations only, and not
// in the line behind those of others.
//
// Channels of a target share the connection, where frames of all of them keep the order in
// which they were made. Between channels nothing else is promised. What covers all
// operations, the ends of epochs and flushes of process scope among them, goes over all
// channels.
//
// The number of a channel is that of its view in the window (Window.numbers), and goes with
// frames (wire.Header.Chan) so that what the target has to tell finds back. When the view is
// freed, the next one to get its number inherits the channel: with operations that may still
// be under way, for which a flush more may wait, but none less.
//
// All of it is guarded by the engine's lock. Numbers are those of operations.
type channel struct {
	target *target
	number uint16 // 0: the main one

	line   []*operation // whose frames have not all gone; from first on
	first  int
	listed bool // in engineLink.lines

	issued uint64 // the last operation
	quiet  uint64 // the last one that is not answered
	wanted uint64 // up to where a WinFlush is to ask
	asked  uint64 // up to where the last WinFlush or WinUnlock asks
	done   uint64 // up to where a WinDone has answered

	delayed bool   // in engineLink.delayed
	delays  int    // polls since something was issued
	seen    uint64 // issued at the last poll
	haste   int    // how many times delays are halved

	rode    uint64 // of the main channel: the last one of this channel's view that rode there
	ridden  bool   // of the main channel: some have
	barrier uint64 // what comes after this one must not overtake those before: View.Order

	oldest, newest *operation // those that are not complete at the origin, by number
	fault          error      // the first that no request tells of
	waits          []*farWait
	flushes        []flushMark
	bundle         *bundle // nil if there is none
	mark           mark    // of a flush of several channels, which is under way
	rides          mark    // of what has ridden, of the same flush
}

// channelsMax is how many channels a target has at most: as many faults may have to be kept
// for each peer, at some 40 bytes each. Views beyond that share the main one, whose flush
// waits for more than it has to.
const channelsMax = 1024

const (
	// expressNumber is that of operations which are answered one by one, and overtake long
	// ones of the main channel: see Engine.express.
	expressNumber = 1
	// firstNumber is the first that views get.
	firstNumber = 2
)

// channel returns the channel of a view to t, nil for that of no view. It is made at first
// use. The lock is held.
func (t *target) channel(v *View) *channel {
	if v == nil || v.number == 0 {
		return &t.main
	}
	return t.at(v.number)
}

// at returns a channel beside the main one by its number. It is made at first use. The lock
// is held.
func (t *target) at(number uint16) *channel {
	i := int(number) - 1
	for len(t.others) <= i {
		t.others = append(t.others, nil)
	}
	if t.others[i] == nil {
		t.others[i] = &channel{target: t, number: number}
	}
	return t.others[i]
}

// numbered returns a channel by number, nil if it was never used. The lock is held.
func (t *target) numbered(number uint16) *channel {
	switch i := int(number) - 1; {
	case i < 0:
		return &t.main
	case i < len(t.others):
		return t.others[i]
	}
	return nil
}

// channels are those that were ever used, and the main one. The lock is held, between the
// steps, too, if the loop does not give it up.
func (t *target) channels(yield func(*channel) bool) {
	if !yield(&t.main) || planted.ChannelLeft {
		return
	}
	for i := 0; i < len(t.others); i++ { // there may be more while the loop waits
		if c := t.others[i]; c != nil && !yield(c) {
			return
		}
	}
}
