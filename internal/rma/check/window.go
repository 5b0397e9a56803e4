package check

import (
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Host is the window that a Window checks, with its engine. Ranks are those of its communicator.
type Host interface {
	Comm() *comm.Comm
	Live() error         // an error if the window has been freed
	Unit(rank int) int64 // the displacement unit of a member
	// Memory returns n bytes of this process's window memory, from byte off on, or in a dynamic
	// window from address off on; an error if they are not part of the window. The lock is held.
	Memory(off uint64, n int64) ([]byte, error)
	// Posted reports whether a member has posted for the epoch of Start. The lock is held.
	Posted(rank int) bool
	// AwaitPost waits until a member has posted.
	AwaitPost(rank int, by call.Number) error
	// AwaitIssued waits until the operations issued to a target are complete, at the origin if local,
	// else at the target. Errors are kept for the call that completes the operations. The lock is
	// held; others may hold it in between.
	AwaitIssued(rank int, by call.Number, local bool)
	// Barrier synchronises all members.
	Barrier()
	// QuestionMax is the greatest length of a question to a member in bytes. No lock is held.
	QuestionMax(rank int) int
	// Ask sends a question to a member, where Answer answers it, and returns the answer, nil if
	// there is none. No lock is held.
	Ask(rank int, question []byte) []byte
}

// Window is the state of checking mode for a window. The lock of the engine guards all of it.
type Window struct {
	lock sync.Locker // of the engine
	host Host
	Locator
	dynamic bool

	made Call // the call that has created the window
	lost bool // a member has died, so it is unknown which operations are complete

	fences  uint64 // number of fences that have ended
	gen     uint64 // of this process's operations; a call completes those up to a generation
	segment uint64 // segment of this process's operations, from 1 on: see Apart
	opened  map[opening]Call
	// signalled are processes that synchronisation objects inform of complete operations.
	// Operations on their memory are not checked, because no other process knows which are complete.
	signalled map[int32]bool

	log
	origin
}

// opening identifies an open epoch.
type opening struct {
	end  call.Number // the call that ends it
	rank int         // the target, or AllTargets
}

// New returns the checker of a window. lock is the lock of its engine.
func New(lock sync.Locker, host Host, dynamic bool, locator Locator) *Window {
	return &Window{
		lock: lock, host: host, dynamic: dynamic, Locator: locator,
		segment: 1, opened: make(map[opening]Call), signalled: make(map[int32]bool), log: newLog(), origin: newOrigin(),
	}
}

// Access is an operation that is about to be issued.
type Access struct {
	Call     Call
	Target   int // rank
	Kind     Kind
	Epoch    Epoch
	Op       op.Op   // of accumulates
	Elem     op.Type // of accumulates
	SameOp   bool    // of accumulates: the window has the hint same_op
	Request  bool    // the program gets a request
	Notifies bool    // it notifies its target
	InOrder  bool    // it belongs to a view whose operations are complete in order

	// The access is to Count elements of Type, or if Type is nil to Size bytes, at Offset of the
	// target's memory, which is an address in a dynamic window.
	Offset uint64
	Size   int64
	Type   *dtype.Type
	Count  int64

	Sent    []mem.Mem // memory at the origin
	Fetched mem.Mem
}

// spans returns the bytes of the target's memory.
func (a *Access) spans() []span {
	if a.Type == nil {
		return []span{{a.Offset, a.Offset + uint64(a.Size)}}
	}
	b, err := dtype.At(nil, a.Type, a.Count)
	if err != nil {
		return nil
	}
	var list []span
	var runs [64]dtype.Run
	for at := int64(0); at < a.Size; {
		k, next := b.Runs(runs[:], at, a.Size-at)
		for _, r := range runs[:k] {
			lo := a.Offset + uint64(r.Off)
			list = appendSpan(list, span{lo, lo + uint64(r.Len)})
		}
		at = next
	}
	return list
}

// Begin compares an operation that is about to be issued with those of others. It returns an error
// if the operation conflicts with one of them: then it must not be issued. Otherwise it returns a
// Pending, whose Issued must be called after the issue; nil if the operation is not checked. It
// takes the lock, and waits for the target.
func (w *Window) Begin(a *Access) (*Pending, error) {
	if a.Notifies {
		w.tellUnchecked(a.Target)
	}
	if a.Notifies && a.InOrder {
		w.Release(a.Target) // the notification tells the target that earlier operations are complete
	}
	w.lock.Lock()
	if w.lost || w.signalled[w.host.Comm().Members[a.Target]] {
		w.lock.Unlock()
		return nil, nil
	}
	segment := w.segment
	if a.InOrder {
		segment = 0 // of its own
	}
	p := &Pending{w: w, target: a.Target, asked: a.Request, entry: entry{
		call: a.Call, origin: int32(w.host.Comm().Rank), kind: a.Kind, epoch: a.Epoch, gen: w.gen, segment: segment,
		request: a.Request && a.Kind == Get,
	}}
	if a.Kind == Accumulate {
		p.entry.op, p.entry.typ, p.entry.sameOp = a.Op, a.Elem, a.SameOp
	}
	if a.Epoch == Fence {
		p.entry.fences = w.fences
		if _, ok := w.opened[opening{call.WinFence, AllTargets}]; !ok {
			w.opened[opening{call.WinFence, AllTargets}] = a.Call
		}
	}
	p.spans = a.spans()
	p.hold(a.Sent, a.Fetched)
	if err := w.overlaps(p); err != nil {
		w.lock.Unlock()
		return nil, err
	}
	w.keep(p)
	logged := w.isLogged(p)
	p.snapped = !logged && !a.Notifies && w.snaps(p)
	early := a.Epoch == Start && !w.host.Posted(a.Target)
	switch {
	case !early:
		w.touched[a.Target] = w.gen
	case !a.Notifies && len(w.early) < pendingMax: // a question would come after the notification
		w.early = append(w.early, p)
	}
	w.lock.Unlock()
	if early || logged {
		p.snapped = false
		return p, nil
	}
	question := askAccess
	switch {
	case a.Notifies:
		question = askTransient
	case p.snapped && a.Kind == Get:
		question = askGet
	}
	err := w.ask(question, p)
	w.lock.Lock()
	defer w.lock.Unlock()
	if err != nil {
		w.origin.remove(p)
		return nil, err
	}
	// Not the generation of p: a flush of another thread may have told the target of complete operations before the question
	// came there. It drops what is touched up to its own generation, which is below the present one.
	w.touched[a.Target] = w.gen
	if !a.Notifies {
		w.noteLogged(p)
	}
	return p, nil
}

// Issued is called after the issue of an operation, which has returned r and err. No lock is held.
func (p *Pending) Issued(r *p2p.Request, err error) {
	if p == nil {
		return
	}
	w := p.w
	w.lock.Lock()
	if err != nil {
		if p.result != nil {
			w.deliver(p) // restores the old content
		}
		w.origin.remove(p)
		w.dropLogged(p.target, p.entry.gen)
	} else if r != nil && p.kept {
		p.request, p.made = r, r.Gen.Load()
		w.requests[r] = p
	}
	if p.result != nil {
		w.arm(p)
	}
	w.lock.Unlock()
	switch {
	case err != nil:
		w.forget(p.target, p.entry, p.spans)
	case p.snapped && p.entry.kind == Put:
		w.putDone(p)
	}
}

// Waited is called after a wait of the program for a request, which is about to be freed. It
// returns an error if the program has stored to memory that the operation sends from or fetches
// into. The lock is held.
func (w *Window) Waited(r *p2p.Request, end Call) error {
	p := w.requests[r]
	if p == nil || p.made != r.Gen.Load() {
		return nil
	}
	err := first(w.unchanged(p, end), w.deliverChecked(p, end))
	w.origin.remove(p)
	return err
}

// Looked notes that the program knows that a request is complete. The lock is held.
func (w *Window) Looked(r *p2p.Request) {
	if p := w.requests[r]; p != nil && p.made == r.Gen.Load() && p.result != nil {
		w.deliver(p)
	}
}

// Made notes the call that has made the window. It takes the lock.
func (w *Window) Made(call Call) {
	w.lock.Lock()
	w.made = call
	w.lock.Unlock()
}

// OutOfRange is the error of a call that accesses memory outside of the window.
func (w *Window) OutOfRange(call Call, cause error) error {
	return class.Errorf(class.RMARange, "%v: %s, the window was made at %s", cause, w.Called(&call, " is at "), w.Where(&w.made))
}

// Lost notes that a member has died. The lock is held.
func (w *Window) Lost() { w.lost = true }

// Renew clears all state, because ranks are about to change. No epoch is open. The lock is held.
func (w *Window) Renew() {
	w.opened, w.fences = make(map[opening]Call), 0
	for p := range w.pending {
		w.origin.remove(p)
	}
	places, off := w.places, w.snapshots.off
	w.log, w.origin = newLog(), newOrigin()
	w.places, w.snapshots.off = places, off
}

// first returns the first error that is not nil.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
