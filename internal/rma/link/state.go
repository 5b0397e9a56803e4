package link

// State is what a link keeps beside operations under way, for tests of its owner.
type State struct {
	Queues     int // channels with operations in their queue
	Coalescing int // channels with a coalesced frame that is being filled
	Delayed    int // channels whose flush is delayed
}

// State returns what l keeps.
func (l *Link) State() State { return State{len(l.queues), len(l.coalescing), len(l.delayed)} }

// Requests returns how many requests to a process have no answer yet.
func (l *Link) Requests(process int) int { return l.peers.At(process).requests }

// ChannelState is how far a channel has come, in numbers of operations: see Channel.
type ChannelState struct {
	Issued, Wanted, Asked, Done uint64
	Shared                      uint64
	Waiters                     int // goroutines that wait for a mark
}

// State returns how far c has come.
func (c *Channel) State() ChannelState {
	return ChannelState{c.issued, c.wanted, c.asked, c.done, c.lastShared, len(c.waits)}
}

// Flushed reports whether AwaitFlushes returns at once.
func (t *Target) Flushed() bool {
	for c := range t.Channels {
		if !c.reached(c.mark, false) {
			return false
		}
	}
	return true
}

// Missing returns the handle of an operation that awaits answers, and how many bytes of its result are missing.
func (o *Operation) Missing() (name uint64, bytes int64) { return o.name, o.Size() - o.got }
