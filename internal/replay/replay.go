// Package replay plays the rounds of collectives on a model network, for more ranks than there can be
// processes of MPI: it keeps less than a cache line for each rank, and the messages on the way.
//
// The rounds are those that the engine carries out (coll.Tracer), and the network is that of fabric/sim.
// A message is one frame, however long: the announcements of long messages are left out. Copies and
// reductions take no time, as in a simulated run of the engine.
package replay

import (
	"cmp"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/fabric/sim"
	"github.com/halo-mpi/halo/internal/wire"
)

// Rounds tells what a rank does in a round, and whether there are more. The Round is valid until the next
// call.
type Rounds func(rank, number int) (r *coll.Round, more bool)

// Result is the outcome of a replay.
type Result struct {
	Last   time.Duration // when the last rank has completed
	Events int           // messages that were sent and taken
}

// rank is the state of a rank.
type rank struct {
	port   sim.Port
	round  int32 // the number of the next round
	misses int32 // messages that the round in progress waits for
	more   bool  // there is a next round
}

// player plays the rounds.
type player struct {
	rounds Rounds
	link   func(a, b int) *sim.Link
	ranks  []rank
	queue  sim.Queue[message]
	// awaited counts by receiver and source the messages that the receiver waits for, less those that
	// have arrived before it waits for them.
	awaited map[pair]int32
	result  Result
}

type pair struct{ to, from int32 }

// message is a message on the way.
type message struct {
	at       time.Duration // when it is taken
	arrives  time.Duration
	to, from int32
}

// Before implements the order of a Queue: by the time at which messages are taken, then by arrival.
func (m message) Before(o message) bool {
	return cmp.Or(cmp.Compare(m.at, o.at), cmp.Compare(m.arrives, o.arrives), cmp.Compare(m.to, o.to), cmp.Compare(m.from, o.from)) < 0
}

// Run plays the rounds of n ranks that begin at the same time, over the links that link returns for two
// ranks.
func Run(n int, link func(a, b int) *sim.Link, rounds Rounds) Result {
	p := &player{rounds: rounds, link: link, ranks: make([]rank, n), awaited: map[pair]int32{}}
	for i := range p.ranks {
		p.ranks[i].more = true
		p.advance(0, i)
	}
	for len(p.queue) > 0 {
		p.take(p.queue.Pop())
	}
	return p.result
}

// advance begins the rounds of a rank until it has to wait.
func (p *player) advance(now time.Duration, me int) {
	r := &p.ranks[me]
	for r.misses == 0 && r.more {
		x, more := p.rounds(me, int(r.round))
		r.round, r.more = r.round+1, more
		for _, t := range x.Receives {
			k := pair{int32(me), int32(t.Rank)}
			if p.count(k, 1) > 0 {
				r.misses++
			}
		}
		for _, t := range x.Sends {
			link := p.link(me, t.Rank)
			arrives := r.port.Send(now, link, wire.HeaderSize+t.Bytes)
			p.queue.Push(message{at: p.ranks[t.Rank].port.Taken(arrives, link), arrives: arrives, to: int32(t.Rank), from: int32(me)})
		}
	}
	if r.misses == 0 {
		p.result.Last = max(p.result.Last, now)
	}
}

// count adds by to the entry k of awaited, and returns the sum.
func (p *player) count(k pair, by int32) int32 {
	n := p.awaited[k] + by
	if n == 0 {
		delete(p.awaited, k)
	} else {
		p.awaited[k] = n
	}
	return n
}

// take delivers a message. If its receiver is busy for longer than was known when the message was sent, take
// puts the message back into the queue instead.
func (p *player) take(m message) {
	r := &p.ranks[m.to]
	if at := r.port.Taken(m.arrives, p.link(int(m.from), int(m.to))); at > m.at {
		m.at = at
		p.queue.Push(m)
		return
	}
	r.port.Take(m.at)
	p.result.Events += 2
	if p.count(pair{m.to, m.from}, -1) < 0 {
		return // the receiver waits for it in a later round
	}
	r.misses--
	if r.misses == 0 {
		p.advance(m.at, int(m.to))
	}
}
