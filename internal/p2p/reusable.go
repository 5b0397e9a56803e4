package p2p

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/planted"
)

// NewReusable returns a request of operations that are complete when the call that starts them
// returns. It belongs to the caller, not to the pool of the engine, and stands for one operation at a
// time: Reuse begins a use, Retire ends it. Neither needs the lock: such an operation and the wait
// for its request cost two atomic operations, where two critical sections cost four, and the request
// is not filled in and reset.
//
// Gen is odd while the request is in use, and changes with every Reuse and Retire. All other fields
// are constant, except for Told, so calls that hold the lock may read them while Gen changes. Retire
// tells them whether another copy of the handle has completed the operation before. Free, Release and
// Take of the engine do not accept the request. A caller that finds it in use takes one of the pool.
//
// Rejected: a handle without a request. It cannot tell that another copy has completed the operation,
// nor that the program has learned of the completion.
func (e *Engine) NewReusable(c *comm.Comm) *Request {
	r := &Request{engine: e, comm: c, reusable: true, Active: true, peer: -1}
	r.About = r
	r.Status.Source, r.Status.Tag = AnySource, AnyTag
	r.Fire()
	return r
}

// Reusable reports whether r was made by NewReusable. It needs no lock.
func (r *Request) Reusable() bool { return r.reusable }

// Reuse begins a use of a reusable request, and reports false if the request is in use.
func (r *Request) Reuse() bool {
	gen := r.Gen.Load()
	return (gen&1 == 0 || planted.ReuseEarly) && r.Gen.CompareAndSwap(gen, gen+1)
}

// Retire ends the use of a reusable request in which Gen is gen. It reports false if that use has
// ended before.
func (r *Request) Retire(gen uint32) bool {
	if planted.RetireTwice {
		current := r.Gen.Load() == gen
		runtime.Gosched()
		r.Gen.Store(gen + 1)
		return current
	}
	return r.Gen.CompareAndSwap(gen, gen+1)
}
