package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Memory that cannot be mapped, while the target polls
//
// The kernel reads and writes memory of another process, in one or two microseconds, for
// which it needs nothing of the target. But a target that happens to be inside Halo, looking
// for frames, can do something short itself in a tenth of that. So short operations are
// first offered to it (shmfmt.Offer): the target's poller finds the offer, does what it asks
// for and says so. If nobody takes it, which shows after half a microsecond, the origin
// retracts it and goes the way it would have gone: by the kernel, or by frames.
//
// Offers that nobody takes are for nothing. So none is made to a target that sleeps, and
// after each one that was in vain the next operations do without, twice as many each time
// (offerTo.skip). To a target that computes one offer in 32 operations remains, which is a
// hundredth of what they cost.
//
// A target that waits inside Halo for long sleeps, too. If there is a core for every process
// of the node, its waiter is nudged after some operations, so that it polls again, as long as
// more come. A target in which nobody waits is left alone.
//
// An operation that was offered is complete, at both sides, before its call returns. So
// accumulates may be, although they have to stay behind those that have gone by frames: they
// are if nothing of this process is under way to the target. Those without a result are not:
// by frames they need not be waited for, and many go at once.
//
// A target that dies, having taken an offer, is found dead (awaitTaken). An origin that dies
// has made its offer, or has not.

const (
	// offerMax is up to how many bytes are offered. They are copied twice; the kernel
	// copies once.
	offerMax = 1024
	// offerLooks is how often the origin looks for the end before it retracts, a fence
	// apart, which is some 10 ns: twice as long as it takes a target that polls.
	offerLooks = 48
	// offerServes is after how many looks it looks whether others offer something: two
	// that make offers to each other need not both go by the kernel.
	offerServes = 8
	// skipMax is how many operations at most do without an offer after many were in vain.
	skipMax = 31
	// nudgeAfter is after how many operations that found the target asleep it is nudged: a
	// nudge costs what several of them do by the kernel. Each one that is followed by no
	// offer that is taken doubles that, up to nudgeMost.
	nudgeAfter = 8
	nudgeMost  = 4096
)

// Where in shmfmt.OfferHead.Do the operation and its type begin, above the kind; and in Size
// the floating-point environment of the origin, above the number of bytes.
const (
	offerOp   = 8
	offerType = 16
	offerEnv  = 24
)

// engineOffers is what an engine needs to know of offers. The engine's lock guards it.
type engineOffers struct {
	offers []offerTo     // by index in the job
	pace   atomic.Uint64 // for nobody: adding to it is a fence between two looks
}

// offerTo is what is known of offers to a process.
type offerTo struct {
	offer  *shmfmt.Offer // nil until the first
	number uint64        // of the last offer
	never  bool          // none can be made
	busy   bool          // the last one was taken, and somebody waits for its end without the lock
	skip   uint32        // operations that are to do without
	vain   uint32        // what skip is set to next

	asleep   uint32 // operations in a row that found the target asleep
	patience uint32 // after how many of them it is nudged
}

// offered offers an access to whoever polls at the target, and reports whether it was made. If
// it was not, nothing has happened. The lock is held, and may be given up for a while.
//
// Cost, where the target polls: two lines from core to core and back, and two atomic
// operations.
func (e *Engine) offered(t *target, a *Op, off uint64) bool {
	if e.node == nil {
		return false
	}
	x := &e.offers[t.process]
	if x.skip > 0 {
		x.skip--
		return false
	}
	size := a.size()
	if size > offerMax || !a.contiguous() || x.never || x.busy {
		return false
	}
	if a.Kind >= Accumulate && (a.Result.Len() == 0 || !e.farIdle(t)) {
		return false
	}
	if x.offer == nil {
		if x.offer = e.node.Offer(int(t.process)); x.offer == nil {
			x.never = true
			return false
		}
	}
	if e.node.Sleeps(int(t.process)) {
		e.nudge(t, x)
		return false
	}
	data := x.offer.Data()
	origin, _ := a.Origin.Bytes()
	switch {
	case a.Kind == CompareAndSwap:
		copy(data[copy(data[:], a.Compare):], origin)
	case !a.sends():
	case size == 8:
		*(*[8]byte)(data[:]) = [8]byte(origin)
	default:
		copy(data[:], origin)
	}
	x.number++
	x.offer.Make(x.number, &shmfmt.OfferHead{
		Window: t.w.id, At: off, Size: uint32(size) | uint32(a.Fn.Env())<<offerEnv,
		Do: uint32(a.Kind) | uint32(a.Fn.Bare())<<offerOp | uint32(a.Elem)<<offerType,
	})
	done := false
	for i := 1; ; i++ {
		e.pace.Add(1)
		var ended bool
		if ended, done = x.offer.Ended(x.number); ended {
			break
		}
		if i == offerLooks {
			if x.offer.Retract(x.number) {
				x.vain = min(2*x.vain+1, skipMax)
				x.skip = x.vain
				return false
			}
			_, done = e.awaitTaken(t, x)
			break
		}
		if i%offerServes == 0 {
			e.node.TakeOffers()
		}
	}
	x.vain, x.asleep, x.patience = 0, 0, nudgeAfter
	if done && a.Kind != Put {
		a.Result.Unpack(x.offer.Answer()[:size], 0)
	}
	return done
}

// spare is how many operations, behind one that was made without an offer, need not ask for one:
// they are counted as if they had. sleeps says that nobody polls at the target.
func (x *offerTo) spare(sleeps bool) uint32 {
	n := uint32(0)
	switch {
	case x.busy:
	case x.never:
		n = skipMax
	case x.skip > 0:
		n, x.skip = x.skip, 0
	case sleeps:
		n = min(max(x.patience, nudgeAfter)-1-x.asleep, skipMax)
		x.asleep += n
	}
	return n
}

// nudge counts an operation that has found the target asleep, and now and then wakes up who
// waits there.
func (e *Engine) nudge(t *target, x *offerTo) {
	x.patience = max(x.patience, nudgeAfter)
	if x.asleep++; x.asleep < x.patience {
		return
	}
	x.asleep = 0
	if job := e.p.Job(); len(job.Local) <= job.Cores && e.node.WakeWaiter(int(t.process)) {
		x.patience = min(2*x.patience, nudgeMost)
	} else {
		x.patience = max(x.patience, skipMax+1) // nobody waits there, or nobody is to be nudged
	}
}

// awaitTaken waits for the end of an offer that has been taken: the target has lost its core
// meanwhile, or its life. In the latter case the offer has not ended.
func (e *Engine) awaitTaken(t *target, x *offerTo) (ended, done bool) {
	x.busy = true
	for {
		if ended, done = x.offer.Ended(x.number); ended {
			break
		}
		if e.node.Gone(int(t.process)) {
			x.never = true
			break
		}
		e.p.Unlock()
		e.p.Yield()
		e.p.Lock()
	}
	x.busy = false
	return ended, done
}

// TakeOffer implements node.Taker: it does what a process of the node offers, if that is
// for a window that both are in, and for memory of it, all of which is looked up here as it
// is for frames (S5). It refuses what it cannot do, or what may be an error: then the origin
// goes another way, and learns there what is wrong.
func (e *Engine) TakeOffer(from int, h *shmfmt.OfferHead, data, answer *[shmfmt.OfferData]byte) bool {
	n := int64(h.Size)
	if Kind(h.Do&(1<<offerOp-1)) == Accumulate {
		n &= 1<<offerEnv - 1
	}
	w := e.windows[h.Window]
	if w == nil || n == 0 || n > offerMax || e.peers[from].refused || w.Comm.RankOf(int32(from)) < 0 {
		return false
	}
	r, at, err := w.place(h.At, n)
	if err != nil {
		return false
	}
	switch Kind(h.Do & (1<<offerOp - 1)) {
	case Put:
		r.Put(at, data[:n])
	case Get:
		r.Get(at, answer[:n])
	case Accumulate:
		typ := op.Type(h.Do >> offerType)
		o := op.Op(h.Do >> offerOp & (1<<(offerType-offerOp) - 1)).In(op.Env(h.Size >> offerEnv))
		size := int64(typ.Size())
		if size == 0 || n%size != 0 || o.On(typ) != o || !o.Accumulates(typ) {
			return false
		}
		if n == size {
			r.FetchOp(at, o, typ, data[:n], answer[:n])
		} else {
			r.Accumulate(at, o, typ, data[:n], answer[:n])
		}
	case CompareAndSwap:
		if typ := op.Type(h.Do >> offerType); int64(typ.Size()) != n || n > 16 {
			return false
		}
		r.CompareSwap(at, int(n), data[n:2*n], data[:n], answer[:n])
	default:
		return false
	}
	return true
}
