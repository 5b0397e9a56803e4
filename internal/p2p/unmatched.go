package p2p

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/leftover"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// A rank whose receive matches none of the messages that have arrived mostly waits for another tag, or on
// another communicator, than the sender has used. So whatever says what a rank waits for also says which
// messages lie there unmatched.

const (
	// unmatchedMost is how many kinds of unmatched messages are described.
	unmatchedMost = 3
	// unmatchedLook is how many messages are looked at to find them.
	unmatchedLook = 1000
)

// FindComm sets the function that finds the communicator of a context, nil if there is none. The lock
// is held when f is called.
func (e *Engine) FindComm(f func(ctx uint64) *comm.Comm) { e.comms = f }

// unmatched is a kind of unmatched messages.
type unmatched struct {
	match.Key
	size uint64
	at   string
}

// appendUnmatched appends a description of the program's messages that no receive has matched, nothing if
// there are none: "from 0 tag 1, 8 bytes". Messages on another communicator than that of the oldest receive say
// which it is. In checking mode it says where messages were sent.
func (e *Engine) appendUnmatched(b []byte) []byte {
	if e.table.Unexpected() == 0 {
		return b
	}
	awaited := uint64(0) // context of the oldest receive
	for n := range e.table.Receives() {
		if n.Ctx&1 == 0 {
			awaited = n.Ctx
			break
		}
	}
	var kinds [unmatchedMost]unmatched
	var numbers [unmatchedMost]int
	looked, found, more := 0, 0, 0
next:
	for n := range e.table.Messages() {
		looked++
		if looked > unmatchedLook {
			break
		}
		if n.Ctx&1 != 0 { // of a collective
			continue
		}
		x := unmatched{Key: n.Key, size: n.Owner.size}
		if n.Owner.hasClaim {
			x.at = e.claims[n.Owner].at
		}
		for i := range found {
			if kinds[i] == x {
				numbers[i]++
				continue next
			}
		}
		if found == unmatchedMost {
			more++
			continue
		}
		kinds[found], numbers[found] = x, 1
		found++
	}
	for i, x := range kinds[:found] {
		if i > 0 {
			b = append(b, "; "...)
		}
		if numbers[i] > 1 {
			b = fmt.Appendf(b, "%d messages ", numbers[i])
		}
		b = e.appendSource(b, &x, awaited)
	}
	switch {
	case looked > unmatchedLook:
		b = append(b, "; and others"...)
	case more > 0:
		b = fmt.Appendf(b, "; and %d more", more)
	}
	return b
}

// Unreceived notes the messages that the program has not received, in checking mode, when it receives none any more.
// It takes the lock.
func (e *Engine) Unreceived(list *leftover.List) {
	var all []unmatched
	var from []int
	e.p.Lock()
	e.p.Progress(-1) // what has come with the last barrier
	for n := range e.table.Messages() {
		if n.Ctx&1 != 0 || proc.InSession(n.Ctx) {
			continue
		}
		x := unmatched{Key: n.Key, size: n.Owner.size}
		if n.Owner.hasClaim {
			x.at = e.claims[n.Owner].at
		}
		rank := int(n.Src)
		if e.comms != nil {
			if c := e.comms(n.Ctx); c != nil {
				rank = c.RankOf(n.Src)
			}
		}
		all, from = append(all, x), append(from, rank)
	}
	e.p.Unlock()
	for i, x := range all {
		place := "an unknown place"
		if x.at != "" {
			place = e.locator.Resolve(x.at)
		}
		list.Add("received", "message", fmt.Sprintf("%d bytes from %d tag %d", x.size, from[i], x.Tag), place)
	}
}

// appendSource appends where messages come from.
func (e *Engine) appendSource(b []byte, x *unmatched, awaited uint64) []byte {
	var c *comm.Comm
	if e.comms != nil {
		c = e.comms(x.Ctx)
	}
	if rank := -1; c != nil {
		rank = c.RankOf(x.Src)
		if rank >= 0 {
			b = fmt.Appendf(b, "from %d", rank)
		}
	} else {
		b = fmt.Appendf(b, "from rank %d of the job", x.Src)
	}
	b = fmt.Appendf(b, " tag %d", x.Tag)
	switch {
	case x.Ctx == awaited:
	case c == nil:
		b = append(b, " on another communicator"...)
	default:
		b = c.AppendOn(b)
	}
	b = fmt.Appendf(b, ", %d byte", x.size)
	if x.size != 1 {
		b = append(b, 's')
	}
	if x.at != "" {
		b = append(append(b, ", sent at "...), x.at...)
	}
	return b
}

// appendPlace appends where the program has called for r, if a wait note has room for that.
func (e *Engine) appendPlace(b []byte, r *Request) []byte {
	if at := e.place(r); at != "" && len(b)+len(" at ")+len(at) <= shmfmt.NoteText {
		b = append(append(b, " at "...), at...)
	}
	return b
}

// pendingReceive describes r, the first of n receives that are still posted, and the messages that none of
// them has matched.
func (e *Engine) pendingReceive(r *Request, n int) string {
	peer, tag := r.Arguments()
	b := []byte(":")
	if n > 1 {
		b = []byte(", the first:")
	}
	b = appendOperation(b, call.None, r.comm, " from ", peer, tag)
	if at := e.place(r); e.checkers != nil && at != "" {
		b = append(append(b, ", at "...), at...)
	}
	if text := e.appendUnmatched(nil); len(text) > 0 {
		b = append(append(b, "; here, unmatched: "...), text...)
	}
	return string(b)
}
