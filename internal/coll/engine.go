package coll

import (
	"weak"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/proc"
)

// Engine is the collective part of one process.
type Engine struct {
	p    *proc.Proc
	p2p  *p2p.Engine
	node *node.Node // nil if no other process is reached through memory

	live  []*schedule // in progress
	ready []*schedule // the parts of their round are complete
	free  []*schedule
	ended bool // a process has died
	wake  bool // Work has to fail the schedules that have lost a member

	choice   choice.Choice
	checkers peers.Set        // processes that check collectives; nil if this one does not
	locator  callsite.Locator // in checking mode
	tells    bool             // members tell their roots

	strangers Strangers // nil if all processes know each other

	// learner finds out which of some processes check; nil if all that check are known.
	learner func(members []int32) error

	comms   map[uint64]weak.Pointer[comm.Comm] // all that schedules take their tags from, by context
	sweepAt int                                // the number of comms from which on those that are forgotten are deleted
}

// New makes the engine of p. Start p with it as a worker.
func New(p *proc.Proc, messages *p2p.Engine, choice choice.Choice) *Engine {
	e := &Engine{p: p, p2p: messages, node: p.Node(), choice: choice, tells: true, comms: make(map[uint64]weak.Pointer[comm.Comm]), sweepAt: 64}
	messages.OnRefusal(e.refused)
	messages.FindComm(func(ctx uint64) *comm.Comm { return e.comms[ctx].Value() })
	return e
}

// Untell makes the process not tell the roots of its collectives, so that they are not compared
// outside of checking mode. It is called before communicators are attached.
func (e *Engine) Untell() { e.tells = false }

// Choose sets how collectives are carried out from now on. All members have to choose the same. It
// takes the lock.
func (e *Engine) Choose(c choice.Choice) {
	e.p.Lock()
	e.choice = c
	e.p.Unlock()
}

// Kernel returns the kernel of the predefined operations.
func (e *Engine) Kernel() op.Kernel { return e.choice.Kernel }

// state is what the engine keeps for a communicator.
type state struct {
	busy    occupancy
	number  int32       // of the last schedule started; the tag of its messages
	terms   agree.Terms // of the last schedule started
	inits   int32       // persistent collectives made
	commits int32       // of calls that make communicators of several jobs
	where   choice.Site
	world   bool      // the communicator may use WorldSlot
	slot    slot.Slot // of all members; a part of the state, which saves a load
	member  member    // the owner of slot
	blocks  *schedule // never begun: the arguments of a neighbourhood collective through slot; nil until one is needed
	checks  bool      // all members check: collectives begin with an agreement

	refusals map[int32][]persistentRefusal // by the tag of a persistent collective; nil until there is one

	division *division // nil until it is needed

	copies []byte // of the operands of blocking reductions; see ungapped
}

// newState returns the state of a communicator without a slot.
func newState(where choice.Site) *state {
	s := &state{where: where}
	s.busy.blocking = &s.busy.alone
	return s
}

// register makes c known by its context. A program may forget a communicator without Free, so the
// reference is weak.
func (e *Engine) register(c *comm.Comm) {
	if len(e.comms) >= e.sweepAt {
		for ctx, p := range e.comms {
			if p.Value() == nil {
				delete(e.comms, ctx)
			}
		}
		e.sweepAt = 2*len(e.comms) + 64
	}
	e.comms[c.Ctx] = weak.Make(c)
}

func stateOf(c *comm.Comm) *state { return c.Coll.(*state) }

// nextTag returns the tag of the next schedule on c. Tags repeat after two billion schedules;
// the first one has ended by then.
func nextTag(c *comm.Comm) int32 {
	s := stateOf(c.Whole())
	s.number = (s.number + 1) & 0x7fffffff
	return s.number
}

// Work implements proc.Worker: schedules whose round is complete start the next.
func (e *Engine) Work() int {
	n := 0
	if e.wake {
		e.wake = false
		e.p.SetBusy(-1)
		n += e.failLost()
	}
	for k := len(e.ready); k > 0; k-- { // schedules that become ready meanwhile wait for the next call
		s := e.ready[0]
		copy(e.ready, e.ready[1:])
		e.ready[len(e.ready)-1] = nil
		e.ready = e.ready[:len(e.ready)-1]
		s.ready = false
		e.p.SetBusy(-1)
		e.advance(s)
		n++
	}
	return n
}

// setReady makes Work advance s.
func (e *Engine) setReady(s *schedule) {
	if !s.ready {
		s.ready = true
		e.ready = append(e.ready, s)
		e.p.SetBusy(1)
	}
}

// PeerFailed implements proc.FailureObserver. It leaves the schedules to Work, since the caller
// may be in the middle of a poll.
func (e *Engine) PeerFailed(int) {
	e.ended = true
	if !e.wake {
		e.wake = true
		e.p.SetBusy(1)
	}
}

// failLost fails the schedules on communicators that have lost a member, and returns their number.
// A schedule that exchanges nothing with the dead process may wait for a member that does.
func (e *Engine) failLost() int {
	n := 0
	for i := len(e.live) - 1; i >= 0; i-- {
		if s := e.live[i]; !s.failed && !s.Outlasts {
			if err := e.lost(s.c); err != nil {
				s.fail(err)
				n++
			}
		}
	}
	return n
}

// lost returns an error if a member of c has died.
func (e *Engine) lost(c *comm.Comm) error {
	if !e.ended {
		return nil
	}
	for c.Within != nil {
		c = c.Within
	}
	if c.Inter == nil {
		return e.dead(c.Members, "rank %d")
	}
	if err := e.dead(c.Inter.Local.Members, "rank %d"); err != nil {
		return err
	}
	return e.dead(c.Members, "rank %d of the remote group")
}

// dead returns an error if one of the processes has died. name is the format of its rank.
func (e *Engine) dead(members []int32, name string) error {
	for r, m := range members {
		if int(m) == e.p.Job().Rank {
			continue
		}
		if cause := e.p.DownCause(int(m)); cause != nil {
			return class.Errorf(class.ProcFailed, name+" has failed: %w", r, cause)
		}
	}
	return nil
}
