package link

import (
	"iter"

	"github.com/halo-mpi/halo/internal/planted"
)

// Channel is a queue of operations to one target by frames, with numbers of its own and the state
// of their completion. An operation belongs to one channel. All views of a window share the main
// channel of each target. A view of thread scope has one more channel, so that its flush waits for
// its own operations only, and not in the queue behind those of others.
//
// Channels of a target share the connection, where frames of all of them keep the order in which
// they were made. Nothing else is ordered between channels. What covers all operations, for example
// the end of an epoch or a flush of process scope, goes over all channels.
//
// The number of a channel is that of its view in the window (windowViews.numbers in package rma). Frames carry it
// (wire.Header.Chan), so that reports of the target reach the channel. When a view is freed, the
// next one that gets its number inherits the channel with its operations: a flush may then wait for
// more operations, never for fewer.
//
// All of it is guarded by the engine's lock. Numbers are those of operations.
type Channel struct {
	target *Target
	number uint16 // 0: the main one

	queue  []*Operation // whose frames are not all sent; from first on
	first  int
	listed bool // in Link.queues

	issued uint64 // the last operation
	quiet  uint64 // the last one without an answer
	wanted uint64 // up to where a WinFlush is to be sent
	asked  uint64 // up to where the last WinFlush or WinUnlock was sent
	done   uint64 // up to where a WinDone has come

	delayed    bool   // in Link.delayed
	delays     int    // polls since something was issued
	seen       uint64 // issued at the last poll
	delayShift int    // delays are halved so many times

	lastShared uint64 // the last operation of this channel's view that went by the main channel
	shared     bool   // of the main channel: operations of views with other channels went by it
	barrier    uint64 // operations after this one must not overtake those up to it: Target.Barrier

	oldest, newest *Operation // of the operations that are not complete at the origin, by number
	fault          error      // the first error of an operation without a request
	waits          []*markWaiter
	flushes        []flushMark
	bundle         *bundle // the coalesced frame that is being filled; nil if there is none
	mark           mark    // of a flush of several channels that is under way
	sharedMark     mark    // of operations that went by the main channel, of the same flush
}

// ChannelsMax is how many channels a target has at most: a target may have to keep one fault for
// each of them and each peer, at some 40 bytes each. Views beyond that share the main one, whose
// flush then waits for more operations than theirs.
const ChannelsMax = 1024

const (
	// priorityNumber is that of operations with an answer each, which overtake long ones of the
	// main channel: see Link.prioritize.
	priorityNumber = 1
	// FirstNumber is the first that views get.
	FirstNumber = 2
)

// channel returns the channel of a number, which is made at first use.
func (t *Target) channel(number uint16) *Channel {
	if number == 0 {
		return &t.main
	}
	return t.at(number)
}

// at returns a channel beside the main one by its number. It is made at first use.
func (t *Target) at(number uint16) *Channel {
	i := int(number) - 1
	for len(t.others) <= i {
		t.others = append(t.others, nil)
	}
	if t.others[i] == nil {
		t.others[i] = &Channel{target: t, number: number}
	}
	return t.others[i]
}

// Numbered returns a channel by number, nil if it was never used.
func (t *Target) Numbered(number uint16) *Channel {
	switch i := int(number) - 1; {
	case i < 0:
		return &t.main
	case i < len(t.others):
		return t.others[i]
	}
	return nil
}

// Channels are those that were ever used, and the main one. The body of the loop may release the lock.
func (t *Target) Channels(yield func(*Channel) bool) {
	if !yield(&t.main) || planted.ChannelLeft {
		return
	}
	for i := 0; i < len(t.others); i++ { // there may be more while the loop waits
		if c := t.others[i]; c != nil && !yield(c) {
			return
		}
	}
}

// Number returns the number of c.
func (c *Channel) Number() uint16 { return c.number }

// Target returns the target of c.
func (c *Channel) Target() *Target { return c.target }

// Issued returns the number of the last operation.
func (c *Channel) Issued() uint64 { return c.issued }

// UnderWay are the operations up to a number that are not complete at the origin.
func (c *Channel) UnderWay(at uint64) iter.Seq[*Operation] {
	return func(yield func(*Operation) bool) {
		for o := c.oldest; o != nil && o.at <= at; o = o.next {
			if !yield(o) {
				return
			}
		}
	}
}

// TakeFault returns, and forgets, the first error of an operation without a request.
func (c *Channel) TakeFault() error {
	err := c.fault
	c.fault = nil
	return err
}

// Split reports whether t has other channels than the main one.
func (t *Target) Split() bool { return len(t.others) > 0 }

// Quiet reports whether nothing is under way to t. There may be an error to be reported.
func (t *Target) Quiet() bool {
	for c := range t.Channels {
		if c.oldest != nil || c.quiet > c.done {
			return false
		}
	}
	return true
}

// Barrier keeps operations that follow by a channel, by its number, from overtaking those before. split reports whether
// other channels have operations under way that number 0 stands for, too; reading reports whether a get is answered in
// pieces, which others overtake at the target.
func (t *Target) Barrier(number uint16) (split, reading bool) {
	c := t.Numbered(number)
	if c == nil {
		return false, false
	}
	c.barrier = c.issued
	return number == 0 && len(t.others) > 0 && !t.Idle(), c.reading(nil)
}
