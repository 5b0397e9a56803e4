package rma

import (
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/lock"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Assertions of synchronisation calls, with the values of the standard ABI. Each call takes those
// that the standard lists for it and refuses others with class.Assert.
const (
	ModeNoCheck   = 1024
	ModeNoPrecede = 2048
	ModeNoPut     = 4096
	ModeNoStore   = 8192
	ModeNoSucceed = 16384
)

// epoch is how the own process may access the window (MPI-5, 12.5).
//
// A fence opens an epoch only if an operation follows: the mode has gateOpen from then
// on, and until then Lock, LockAll, Start and Post may begin another epoch. Locks of
// several targets are one state, in which each target has its own (TargetRecord.Held).
//
//	state    | Fence  Start  Complete  Lock    Unlock  LockAll  UnlockAll  Flush  operation
//	none     | fence  start  -         lock    -       lockAll  -          -      -
//	fence    | fence  start  -         lock    -       lockAll  -          -      used
//	used     | fence  -      -         -       -       -        -          -      used
//	start    | -      -      none      -       -       -        -          -      start
//	lock     | -      -      -         lock 1) none 2) -        -          lock   lock 2)
//	lockAll  | -      -      -         -       -       -        none       lockAll lockAll
//	-  is class.RMASync, and nothing changes
//	1) to a target that is not locked   2) to one that is; Unlock: of the last one
//
// The exposure epoch of Post, which Wait or Test ends, is separate. It may be open together
// with start and lock, but not with a fence, a lock of the own process, or lockAll.
//
// While a call that ends or begins an epoch waits, the state is epochChanging, in which all
// other calls are errors.
type epoch uint8

const (
	epochNone epoch = iota
	epochFence
	epochStart
	epochLock
	epochLockAll
	epochChanging
)

// String says which epoch is open, for errors.
func (x epoch) String() string {
	return [...]string{
		"no access epoch is open",
		"the access epoch of a fence is open",
		"an access epoch of Start is open",
		"targets are locked",
		"all targets are locked",
		"another call ends or begins an epoch",
	}[x]
}

// Bits of WindowRecord.Mode beside gateOpen.
const (
	modeLockAll gate = 4  // LockAll: flushes are legal
	modeFence   gate = 16 // alone: an epoch of Fence that no operation has followed yet
)

// gateLocked is a bit of TargetRecord.Gate beside gateOpen: Lock, so that flushes are legal.
const gateLocked gate = 8

// windowSync is the synchronisation state of a window that C does not need: the rest is in its record. All
// but the last six fields is guarded by Window.mu.
type windowSync struct {
	group []*target // of Start
	null  bool      // ProcNull is locked

	posted  bool      // an exposure epoch is open
	ending  bool      // Wait is under way
	origins []*target // it is open to them

	served    bool           // a service may apply operations: to members on other nodes, or to memory that is not mapped; constant from openSync on
	service   lock.Service   // of the own memory's lock; under the engine's lock
	listed    bool           // in engineSync.serving; under the engine's lock
	opened    bool           // all members are known; under the engine's lock
	early     []int32        // processes that had posted before; under the engine's lock
	earlyEnds map[int]uint64 // epochs completed before the own creation was, by rank; under the engine's lock
}

// targetSync is the synchronisation state of a target, which is an origin as well.
type targetSync struct {
	local int // of the node, -1 elsewhere

	chosen bool // scratch of members; under Window.mu

	// starts is how many access epochs of Start there were with this target: gateWaiting waits for
	// that many posts. It is set before the gate, and constant until that is opened or closed.
	starts  uint64
	arrived atomic.Uint64 // posts of a target on another node; counted under the engine's lock

	posts        uint64        // exposure epochs to this origin, until now; under Window.mu
	ended        atomic.Uint64 // how many of them an origin on another node has completed
	endsByFrames bool          // epochs are completed by frames from now on; under the engine's lock

	asks     uint64        // how often a target on another node was asked for its lock; under the engine's lock
	answered atomic.Uint64 // how often it has answered; counted under the engine's lock
	refusal  error         // the error in its last answer; under the engine's lock
	lazy     lazyLock

	lockSeen shmfmt.LockState // the last state of the claim that is waited for; under the engine's lock
}

// What TargetRecord.Held says.
const (
	heldNot = iota
	heldChanging
	heldLazy // an epoch is open, the lock is not held: lazyLock
	heldLocked
)

// epoch returns which access epoch is open. Window.mu is held.
func (w *Window) epoch() epoch { return epoch(w.rec.Epoch) }

// wrong is the error of a call that the open epochs do not permit.
func (w *Window) wrong(format string, args ...any) error {
	return class.Errorf(class.RMASync, format, args...)
}

// asserted checks an assertion against those that the call takes.
func asserted(assert, legal int) error {
	if assert&^legal != 0 {
		return class.Errorf(class.Assert, "assertion %d is none of this call: it takes %d at most", assert, legal)
	}
	return nil
}

// free returns an error unless an access epoch may begin: none is open, or that of a fence which no
// operation has followed. Window.mu is held.
func (w *Window) free() error {
	if w.epoch() == epochNone || w.epoch() == epochFence && w.rec.Mode.Load()&gateOpen == 0 {
		return nil
	}
	return w.wrong("%v", w.epoch())
}

// set changes the epoch and the mode. Window.mu is held.
func (w *Window) set(x epoch, mode gate) {
	w.rec.Epoch = uint32(x)
	if w.rec.Mode.Load() != mode {
		w.rec.Mode.Store(mode)
	}
}

// setGate opens or closes the gate of t. Window.mu is held. It is no fence: another goroutine that
// uses the window has learned from this one that it may.
func (t *target) setGate(g gate) { shmfmt.Publish32(&t.rec.Gate, g) }

// admit returns the gate for an operation to t, of any target if nil, or an error if the current
// epoch does not permit it.
func (w *Window) admit(t *target) (gate, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.epoch() {
	case epochFence:
		w.rec.Mode.Store(gateOpen) // an operation has followed the fence
		return gateOpen, nil
	case epochStart, epochLock, epochLockAll:
		if t == nil {
			return gateOpen, nil
		}
		switch g := t.rec.Gate.Load(); {
		case g&gateOpen != 0 || w.rec.Mode.Load()&gateOpen != 0:
			return gateOpen, nil
		case g == gateWaiting:
			return w.reach(t), nil
		case t.rec.Held == heldLazy:
			return gateLazy, nil
		}
		if w.epoch() == epochStart {
			return gateClosed, w.wrong("rank %d is not in the group of the access epoch", t.Rank)
		}
		return gateClosed, w.wrong("rank %d is not locked", t.Rank)
	}
	return gateClosed, w.wrong("%v", w.epoch())
}

// reach opens the gate of t, which waits, if the post is there.
func (w *Window) reach(t *target) gate {
	w.e.p.Lock()
	defer w.e.p.Unlock()
	if !w.exposed(t) {
		return gateWaiting
	}
	w.e.drain(t)
	return gateOpen
}

// exposed reports whether the post that t's gate waits for is there. The lock is held.
func (w *Window) exposed(t *target) bool {
	return w.posts(t).Load() >= t.starts
}

// posts is the word that counts how often t has posted to the own process.
func (w *Window) posts(t *target) *atomic.Uint64 {
	if t.control != nil {
		return t.control.Posted(w.e.me)
	}
	return &t.arrived
}

// idle returns an error if an epoch is open.
func (w *Window) idle() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.free(); err != nil {
		return err
	}
	if w.posted {
		return w.wrong("an exposure epoch of Post is open")
	}
	return nil
}

// engineSync is the synchronisation state of a process.
type engineSync struct {
	me          int                   // of the node
	deadLocals  shmfmt.Dead           // of the node; added to under the engine's lock
	lost        sync.Map              // local numbers (int32) of processes that have died; stored under the engine's lock
	looks       int                   // how often a waiter loads the word before anything else
	yields      int                   // how often it yields the core and loads again, before the engine polls
	locking     *shmfmt.LockingRecord // its Lost says that lost is not empty
	serving     []*Window             // whose service waits for the lock; under the engine's lock
	idleWaiters []*waiter             // free ones; under the engine's lock
}

const (
	// looksAlone is how often a process that has a core loads a word, some 10 ns apart, before it
	// polls: several times as long as a cache line takes from core to core.
	looksAlone = 200
	// looksCrowded and yieldsCrowded are the same for a process that shares its core: the others
	// mostly come within one or two yields.
	looksCrowded, yieldsCrowded = 4, 8
)

// startSync makes the synchronisation state.
func (e *Engine) startSync() {
	n, me := e.locals()
	job := e.p.Job()
	e.me, e.deadLocals = me, shmfmt.NewDead(n)
	e.locking = offheap.Owned[shmfmt.LockingRecord](e)
	if len(job.Local) <= job.Cores {
		e.looks = looksAlone
	} else {
		e.looks, e.yields = looksCrowded, yieldsCrowded
	}
}

// dead reports whether a process is known to have died. No lock is needed.
func (e *Engine) dead(process int32) bool {
	if !e.locking.Lost.Load() { // pairs with the store in lostSync
		return false
	}
	_, dead := e.lost.Load(process)
	return dead
}

// startSync makes the synchronisation state of t.
func (t *target) startSync() {
	t.local = -1
	if t.control != nil {
		t.local = t.w.e.me
		if t.Rank != t.w.Comm.Rank {
			t.local = t.w.e.node.LocalIndex(int(t.Process))
		}
	}
}

// workSync has the service check the locks that it waits for.
func (e *Engine) workSync() int {
	n := 0
	for i := len(e.serving) - 1; i >= 0; i-- { // serve may remove it from the list
		n += e.serving[i].serve()
	}
	return n
}

// lostSync makes claims of a process that has died void, and removes it from the queues of the
// service.
func (e *Engine) lostSync(peer int) {
	e.lost.Store(int32(peer), true)
	e.locking.Lost.Store(true) // pairs with the load in dead
	if e.p.Near(peer) && !planted.FallenForgotten {
		e.deadLocals.Add(e.node.LocalIndex(peer))
	}
	for _, w := range e.windows {
		w.lostOrigin(int32(peer))
		w.wakeAfterDeath()
	}
}
