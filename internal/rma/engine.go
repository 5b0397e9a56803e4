package rma

import (
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/serve"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Engine is the one-sided part of one process.
type Engine struct {
	p        *proc.Proc
	messages *p2p.Engine
	colls    *coll.Engine
	mem      *store.Store
	node     *node.Node // nil if no process is reached through memory
	brief    uint32     // proc.Brief of this process

	closed  *shmfmt.WindowRecord // record of all freed windows: it has no targets and never changes
	windows map[uint64]*Window   // those that exist here, by id; under the engine's lock
	waiting []*target            // targets with deferred operations; under the engine's lock

	link   *link.Link           // to targets, by frames
	server *serve.Server        // of frames of others
	hdr    wire.Header          // scratch: headers handed to a fabric must not escape; under the engine's lock
	iov    [kernelSlices][]byte // scratch: memory handed to the kernel or a fabric; under the engine's lock
	stage  []byte               // scratch: packed bytes for iov; nil until needed

	engineSync
	engineCheck
	engineCounters
	engineSyncs
	engineOffers
	engineBlocks
}

// New makes the engine of p. The caller starts p with the engine as a worker and passes the frames
// of one-sided communication to it.
func New(p *proc.Proc, messages *p2p.Engine, colls *coll.Engine, mem *store.Store) *Engine {
	e := &Engine{
		p: p, messages: messages, colls: colls, mem: mem, node: p.Node(),
		windows: make(map[uint64]*Window),
		brief:   p.Brief(p.Job().Rank),
	}
	e.closed = offheap.Owned[shmfmt.WindowRecord](e)
	e.startSync()
	e.link = link.New(p, messages, (*linkHost)(e))
	e.server = serve.New(p, e.link, (*serveHost)(e))
	e.answers = peers.Make[checkedPeer](p.Known(), nil)
	if e.node != nil {
		e.node.SetTaker(e)
	}
	messages.SetOneSided(e)
	return e
}

// Work implements proc.Worker.
func (e *Engine) Work() int {
	return e.workDeferred() + e.workSync() + e.link.Work() + e.server.Work() + e.workCounters() + e.workSyncs()
}

// PeerFailed implements proc.FailureObserver.
func (e *Engine) PeerFailed(peer int) {
	e.lostUnlocked(peer)
	e.lostDeferred(peer)
	e.lostSync(peer)
	e.lostLink(peer)
	e.lostCheck(peer)
	e.lostCounters()
	e.workSyncs()
}

// Forget implements proc.Forgetter.
func (e *Engine) Forget(peer int) {
	e.link.Forget(peer)
	e.server.Forget(peer)
	e.answers.Forget(peer)
	e.offers.Forget(peer)
	if !planted.DeathKept {
		e.lost.Delete(int32(peer))
	}
}

// locals returns the number of processes that share memory with this one, including itself, and
// the index of this one among them.
func (e *Engine) locals() (n, me int) {
	if e.node == nil {
		return 1, 0
	}
	return len(e.p.Job().Local), e.node.LocalIndex(e.p.Job().Rank)
}

// near reports whether a process is this one or shares memory with it.
func (e *Engine) near(process int32) bool {
	return int(process) == e.p.Job().Rank || e.p.Near(int(process))
}

// localGone reports whether a local process of the node is known to have died. No lock
// is needed.
func (e *Engine) localGone(local int) bool { return e.node.Gone(e.p.Job().Local[local]) }

// linkHost is an Engine as the owner of its link.
type linkHost Engine

// Target implements link.Host.
func (h *linkHost) Target(process int, window uint64) *link.Target {
	if t := (*Engine)(h).targetOf(process, window); t != nil {
		return &t.Target
	}
	return nil
}

// EpochDone implements link.Host.
func (h *linkHost) EpochDone(t *link.Target) {
	if t := (*Engine)(h).targetOf(int(t.Process), t.Window()); t != nil {
		t.lazy.waits = nil
		t.answered.Store(t.asks)
	}
}

// targetOf is a process as a target of a window, nil if it was never used as a target.
func (e *Engine) targetOf(process int, window uint64) *target {
	w := e.windows[window]
	if w == nil {
		return nil
	}
	rank := w.Comm.RankOf(int32(process))
	if rank < 0 {
		return nil
	}
	return w.targets[rank].Load()
}

// lostLink ends what is under way, in both directions, with a process that has died.
func (e *Engine) lostLink(peer int) {
	e.server.Lost(peer)
	e.link.Lost(peer)
	for _, w := range e.windows {
		w.incoming.Forget(int32(peer))
		if t := e.targetOf(peer, w.id); t != nil {
			e.link.LoseTarget(&t.Target)
		}
	}
}
