package rma

import "github.com/halo-mpi/halo/internal/planted"

// channel is a queue of operations to one target by frames, with numbers of its own and the state
// of their completion. An operation belongs to one channel. All views of a window share the main
// channel of each target. A view of thread scope has one more channel, so that its flush waits for
// its own operations only, and not in the queue behind those of others.
//
// Channels of a target share the connection, where frames of all of them keep the order in which
// they were made. Nothing else is ordered between channels. What covers all operations, for example
// the end of an epoch or a flush of process scope, goes over all channels.
//
// The number of a channel is that of its view in the window (Window.numbers). Frames carry it
// (wire.Header.Chan), so that reports of the target reach the channel. When a view is freed, the
// next one that gets its number inherits the channel with its operations: a flush may then wait for
// more operations, never for fewer.
//
// All of it is guarded by the engine's lock. Numbers are those of operations.
type channel struct {
	target *target
	number uint16 // 0: the main one

	queue  []*operation // whose frames are not all sent; from first on
	first  int
	listed bool // in engineLink.queues

	issued uint64 // the last operation
	quiet  uint64 // the last one without an answer
	wanted uint64 // up to where a WinFlush is to be sent
	asked  uint64 // up to where the last WinFlush or WinUnlock was sent
	done   uint64 // up to where a WinDone has come

	delayed    bool   // in engineLink.delayed
	delays     int    // polls since something was issued
	seen       uint64 // issued at the last poll
	delayShift int    // delays are halved so many times

	lastShared uint64 // the last operation of this channel's view that went by the main channel
	shared     bool   // of the main channel: operations of views with other channels went by it
	barrier    uint64 // operations after this one must not overtake those up to it: View.Order

	oldest, newest *operation // of the operations that are not complete at the origin, by number
	fault          error      // the first error of an operation without a request
	waits          []*markWaiter
	flushes        []flushMark
	bundle         *bundle // the coalesced frame that is being filled; nil if there is none
	mark           mark    // of a flush of several channels that is under way
	sharedMark     mark    // of operations that went by the main channel, of the same flush
}

// channelsMax is how many channels a target has at most: a target may have to keep one fault for
// each of them and each peer, at some 40 bytes each. Views beyond that share the main one, whose
// flush then waits for more operations than theirs.
const channelsMax = 1024

const (
	// priorityNumber is that of operations with an answer each, which overtake long ones of the
	// main channel: see Engine.prioritize.
	priorityNumber = 1
	// firstNumber is the first that views get.
	firstNumber = 2
)

// channel returns the channel of a view to t, the main one if v is nil. It is made at first use.
// The lock is held.
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

// channels are those that were ever used, and the main one. The lock is held; the body of the loop
// may release it.
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
