package part

import (
	"math/rand/v2"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// unmatchedMax is how many sends to a process may have been announced and not matched. Each costs
// the receiver a record of some 100 bytes.
const unmatchedMax = 1 << 16

// Engine is the partitioned communication of one process. While the program does not use it, it
// costs nothing: the table is made by the first announcement, and no poll looks here unless a
// request is active.
type Engine struct {
	p        *proc.Proc
	messages *p2p.Engine
	mem      *store.Store
	node     *node.Node // nil if no process is reached through memory
	me       int32

	sends p2p.HandleTable[Send]
	recvs p2p.HandleTable[Recv]
	table *match.Table[Recv, announced] // nil until it is needed
	peers peers.Table[peer]

	working  []*Send // active sends that every poll advances
	watching []*Recv // active receives that a sender may complete in memory

	iov [fabric.RunSlices][]byte // scratch: blocks of memory handed to a fabric
	hdr wire.Header              // scratch: headers handed to a fabric must not escape
}

// peer is what the engine keeps for each process that it communicates with.
type peer struct {
	unmatched int       // own sends that the peer has not matched yet
	announced int       // sends of the peer that are not matched here
	placed    *Recv     // receive into which the fabric is placing a payload
	view      node.View // of the peer's heap; nil until it is needed. It stays: goroutines may look at a block of it without the lock
}

// announced is a send of a peer that no receive has matched yet.
type announced struct {
	node match.Node[announced]
	offer
}

// offer is what a sender says of its send.
type offer struct {
	name  uint64 // the sender's handle
	total uint64 // bytes
	parts uint64
	code  uint32 // of the elements
}

// New makes the engine of p. The caller starts p with it as a worker.
func New(p *proc.Proc, messages *p2p.Engine, mem *store.Store) *Engine {
	e := &Engine{p: p, messages: messages, mem: mem, node: p.Node(), me: int32(p.Job().Rank)}
	messages.SetPartitioned(e)
	return e
}

// start makes the tables of the engine, at its first use.
func (e *Engine) start() {
	if e.table == nil {
		e.table = match.New[Recv, announced](rand.Uint64())
		e.peers = peers.Make[peer](e.p.Known(), nil)
	}
}

// Forget implements proc.Forgetter.
func (e *Engine) Forget(peer int) { e.peers.Forget(peer) }

// tell sends a frame to a process, which may be this one.
func (e *Engine) tell(to int32, h wire.Header, payload []byte) {
	h.Size = uint32(len(payload))
	if to == e.me {
		e.Frame(int(to), &h, payload)
		return
	}
	e.hdr = h
	e.p.Queue(int(to), &e.hdr, payload, nil)
}

// Work implements proc.Worker.
func (e *Engine) Work() int {
	n := e.workRecvs()
	for i := 0; i < len(e.working); {
		s := e.working[i]
		n += e.advance(s)
		if i < len(e.working) && e.working[i] == s {
			i++
		}
	}
	return n
}

// Pending returns an error if a request is active in contexts that of selects; nil selects all. It
// takes the lock.
func (e *Engine) Pending(of func(ctx uint64) bool) error {
	e.p.Lock()
	defer e.p.Unlock()
	sends, recvs := e.active(func(c *comm.Comm) bool { return of == nil || of(c.Ctx) })
	switch {
	case sends > 0:
		return pending(sends, "send")
	case recvs > 0:
		return pending(recvs, "receive")
	}
	return nil
}

func pending(n int, what string) error {
	verb := "is"
	if n > 1 {
		what, verb = what+"s", "are"
	}
	return class.Errorf(class.Pending, "%d partitioned %s %s not complete", n, what, verb)
}

// Busy reports whether a request on c is active.
func (e *Engine) Busy(c *comm.Comm) bool {
	sends, recvs := e.active(func(other *comm.Comm) bool { return other == c })
	return sends+recvs > 0
}

// active counts the active requests on communicators that of selects.
func (e *Engine) active(of func(c *comm.Comm) bool) (sends, recvs int) {
	for s := range e.sends.All() {
		if s.active && of(s.comm) {
			sends++
		}
	}
	for r := range e.recvs.All() {
		if r.active && of(r.comm) {
			recvs++
		}
	}
	return sends, recvs
}

// Down implements fabric.Sink: what needs the peer fails. Data of a round that are all in the
// buffer count.
func (e *Engine) Down(from int, cause error) {
	if e.table == nil {
		return
	}
	src := int32(from)
	for e.workRecvs() > 0 {
	}
	*e.peers.At(from) = peer{view: e.peers.At(from).view}
	for m := range e.table.Messages() {
		if m.Src == src {
			e.table.Remove(m)
		}
	}
	for s := range e.sends.All() {
		if s.peer == src {
			e.failSend(s, gone(s.comm, src, cause))
		}
	}
	for r := range e.recvs.All() {
		if r.peer == src {
			e.table.Cancel(&r.node)
			e.failRecv(r, gone(r.comm, src, cause))
		}
	}
}

// gone is the error of a request with a process that has failed.
func gone(c *comm.Comm, process int32, cause error) error {
	return class.Errorf(class.ProcFailed, "rank %d has failed: %w", c.RankOf(process), cause)
}

// list has every poll advance s, or no longer. A send that goes directly waits for a round to be
// opened, which rings: nobody has to begin to poll for it. One that sends frames has to go on.
func (e *Engine) list(s *Send, listed bool) {
	if s.listed == listed {
		return
	}
	s.listed = listed
	if listed {
		e.working = append(e.working, s)
		if s.direct.Load() != nil {
			e.p.Later(1)
		} else {
			e.p.SetBusy(1)
		}
		return
	}
	i := slices.Index(e.working, s)
	e.working = slices.Delete(e.working, i, i+1)
	e.p.Later(-1)
}
