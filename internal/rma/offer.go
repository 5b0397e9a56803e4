package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Offers
//
// The kernel copies memory of another process in one or two microseconds, without the target. But a
// target that is inside Halo, polling for frames, can do something short itself in a tenth of that.
// So short operations on memory that cannot be mapped are first offered to the target
// (shmfmt.Offer): its poller finds the offer, carries out the operation and reports that it is
// done. If nobody has taken the offer after half a microsecond, the origin retracts it and uses the
// kernel or frames.
//
// Offers that nobody takes are wasted. So none is made to a target that sleeps, and after each one
// that nobody takes a number of operations skip offers, twice as many each time (offerTo.skip). One
// offer in 32 operations remains for a target that computes, which is a hundredth of their cost.
//
// A target that waits inside Halo for long sleeps, too. If there is a core for every process of the
// node, the origin wakes its waiter after some operations, so that it polls again while more of
// them come. A target in which nobody waits is not woken.
//
// An operation that was offered is complete, at both sides, before its call returns. So accumulates
// may be offered, although they must stay behind those that went by frames, if nothing of this
// process is under way to the target. Accumulates without a result are not offered: by frames they
// need not be waited for, and many share a frame.
//
// If a target dies after it has taken an offer, the origin finds it dead (awaitTaken). An origin
// that dies has made its offer, or has not.

const (
	// offerMax is the size of the longest operation that is offered, in bytes. An offer is copied
	// twice; the kernel copies once.
	offerMax = 1024
	// offerLooks is how often the origin looks for the end of its offer before it retracts it, a
	// fence apart, which is some 10 ns: twice as long as a target takes that polls.
	offerLooks = 48
	// offerServes is after how many looks it takes offers of others: two processes that make offers
	// to each other need not both use the kernel.
	offerServes = 8
	// skipMax is how many operations at most skip offers after many that nobody took.
	skipMax = 31
	// wakeAfterMin is after how many operations that found the target asleep the origin wakes it: a
	// wake-up costs as much as several of them by the kernel. Each wake-up after which no offer is
	// taken doubles that, up to wakeAfterMax.
	wakeAfterMin = 8
	wakeAfterMax = 4096
)

// offerOp and offerType are where the operation and its type begin in shmfmt.OfferHead.Do, above
// the kind, and offerEnv where the floating-point environment of the origin begins in Size, above
// the number of bytes.
const (
	offerOp   = 8
	offerType = 16
	offerEnv  = 24
)

// engineOffers is the state of offers of a process. The engine's lock guards it.
type engineOffers struct {
	offers peers.Table[offerTo]
	pace   atomic.Uint64 // never read: adding to it is a fence between two looks
}

// offerTo is the state of offers to a peer.
type offerTo struct {
	offer    *shmfmt.Offer // nil until the first
	number   uint64        // of the last offer
	never    bool          // none can be made
	busy     bool          // the last one was taken, and a goroutine waits for its end without the lock
	skip     uint32        // operations that are to skip offers
	nextSkip uint32        // the next value of skip

	asleep    uint32 // operations in a row that found the target asleep
	wakeAfter uint32 // after how many of them the origin wakes it
}

// offered offers an access to the poller of the target, and reports whether it was carried out. If
// not, nothing has happened. The lock is held, and may be released for a while.
//
// Cost, where the target polls: two cache lines from core to core and back, and two atomic
// operations.
func (e *Engine) offered(t *target, a *operation.Op, off uint64) bool {
	if e.node == nil {
		return false
	}
	x := e.offers.At(int(t.Process))
	if x.skip > 0 {
		x.skip--
		return false
	}
	size := a.Size()
	if size > offerMax || !a.Contiguous() || x.never || x.busy {
		return false
	}
	if a.Kind >= operation.Accumulate && (a.Result.Len() == 0 || !t.Idle()) {
		return false
	}
	if x.offer == nil {
		x.offer = e.node.Offer(int(t.Process))
		if x.offer == nil {
			x.never = true
			return false
		}
	}
	if e.node.Sleeps(int(t.Process)) {
		e.countAsleep(t, x)
		return false
	}
	data := x.offer.Data()
	origin, _ := a.Origin.Bytes()
	switch {
	case a.Kind == operation.CompareAndSwap:
		copy(data[copy(data[:], a.Compare):], origin)
	case !a.Sends():
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
		ended, done = x.offer.Ended(x.number)
		if ended {
			break
		}
		if i == offerLooks {
			if x.offer.Retract(x.number) {
				x.nextSkip = min(2*x.nextSkip+1, skipMax)
				x.skip = x.nextSkip
				return false
			}
			_, done = e.awaitTaken(t, x)
			break
		}
		if i%offerServes == 0 {
			e.node.TakeOffers()
		}
	}
	x.nextSkip, x.asleep, x.wakeAfter = 0, 0, wakeAfterMin
	if done && a.Kind != operation.Put {
		a.Deliver(x.offer.Answer()[:size], 0)
	}
	return done
}

// spare is how many operations, behind one without an offer, need not ask for one: they are counted
// as if they had. sleeps says that nobody polls at the target.
func (x *offerTo) spare(sleeps bool) uint32 {
	n := uint32(0)
	switch {
	case x.busy:
	case x.never:
		n = skipMax
	case x.skip > 0:
		n, x.skip = x.skip, 0
	case sleeps:
		n = min(max(x.wakeAfter, wakeAfterMin)-1-x.asleep, skipMax)
		x.asleep += n
	}
	return n
}

// countAsleep counts an operation that has found the target asleep, and sometimes wakes the waiter
// there.
func (e *Engine) countAsleep(t *target, x *offerTo) {
	x.wakeAfter = max(x.wakeAfter, wakeAfterMin)
	x.asleep++
	if x.asleep < x.wakeAfter {
		return
	}
	x.asleep = 0
	if job := e.p.Job(); len(job.Local) <= job.Cores && e.node.WakeWaiter(int(t.Process)) {
		x.wakeAfter = min(2*x.wakeAfter, wakeAfterMax)
	} else {
		x.wakeAfter = max(x.wakeAfter, skipMax+1) // nobody waits there, or the cores are shared
	}
}

// awaitTaken waits for the end of an offer that was taken: the target has been preempted, or has
// died. In the latter case the offer has not ended.
func (e *Engine) awaitTaken(t *target, x *offerTo) (ended, done bool) {
	x.busy = true
	for {
		ended, done = x.offer.Ended(x.number)
		if ended {
			break
		}
		if e.node.Gone(int(t.Process)) {
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

// TakeOffer implements node.Taker: it carries out what a process of the node offers, if both are
// members of the window. It looks up the memory as it does for frames (S5). It refuses what it
// cannot do, and what may be an error: then the origin takes another path, which reports the error.
func (e *Engine) TakeOffer(from int, h *shmfmt.OfferHead, data, answer *[shmfmt.OfferData]byte) bool {
	n := int64(h.Size)
	if operation.Kind(h.Do&(1<<offerOp-1)) == operation.Accumulate {
		n &= 1<<offerEnv - 1
	}
	w := e.windows[h.Window]
	if w == nil || n == 0 || n > offerMax || e.link.Refused(from) || w.Comm.RankOf(int32(from)) < 0 {
		return false
	}
	r, at, err := w.incoming.Place(h.At, n)
	if err != nil {
		return false
	}
	switch operation.Kind(h.Do & (1<<offerOp - 1)) {
	case operation.Put:
		r.Put(at, data[:n])
	case operation.Get:
		r.Get(at, answer[:n])
	case operation.Accumulate:
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
	case operation.CompareAndSwap:
		if typ := op.Type(h.Do >> offerType); int64(typ.Size()) != n || n > 16 {
			return false
		}
		r.CompareSwap(at, int(n), data[n:2*n], data[:n], answer[:n])
	default:
		return false
	}
	return true
}
