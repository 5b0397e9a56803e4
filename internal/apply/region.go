package apply

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// Region is memory of a target, as mapped by a process that applies operations. All such
// processes have the same Stripes. Their regions begin at the same byte, or Base is such that
// each byte has the same stripe in all of them.
//
// The caller must have checked that operations are inside and are defined on their types
// (op.CheckAccumulate). An operation outside panics and changes nothing.
type Region struct {
	Mem     []byte
	Stripes *shmfmt.Stripes
	Me      int       // the local index of this process
	Base    int64     // offset of Mem in the memory that stripes divide; see shmfmt.StripeBase
	Kernel  op.Kernel // carries out long accumulates
	// Fine requires that elements are updated one by one by atomic operations of the processor,
	// without locks and vectors, as far as the processor has such operations. It must be the
	// same in all processes that share the Stripes.
	Fine bool
	// Yield yields the core to another process of the node; nil stands for runtime.Gosched.
	Yield func()
	// Dead reports whether a local process is known to have failed. A process that waits for a
	// stripe calls it, and removes the claim of a failed process. The caller of the operation
	// may hold locks, and Dead must take none of them. If Dead is nil, no process ever fails.
	Dead func(process int) bool
}

// few returns the number of elements up to which they are updated one by one. The lock of a
// writer costs no more than that of a reader, and vector kernels cost less than atomic
// operations. But a writer loads the counts of all processes, 16 of them in the time of an
// atomic operation.
func (r *Region) few() int { return 1 + r.Stripes.Local()/16 }

// Put copies data into the region at off. It costs a copy.
func (r *Region) Put(off int64, data []byte) {
	copy(r.Mem[off:off+int64(len(data))], data)
}

// Get copies the bytes at off. It costs a copy.
func (r *Region) Get(off int64, dst []byte) {
	copy(dst, r.Mem[off:off+int64(len(dst))])
}

// Accumulate combines the elements at off with those of data, each atomically, and stores the
// previous values in old, unless old is nil. For NoOp data may be nil, and the length is that of
// old. Both are whole elements; they do not overlap.
//
// It costs, for each stripe (32 KiB), an atomic operation and a load for each local process,
// some 15 ns, and a vector kernel; and one more copy for old. One element is FetchOp.
func (r *Region) Accumulate(off int64, o op.Op, t op.Type, data, old []byte) {
	size, n := t.Size(), len(data)
	if o == op.NoOp {
		data, n = nil, len(old)
	}
	if n == size {
		r.FetchOp(off, o, t, data, old)
		return
	}
	mem := r.Mem[off : off+int64(n)]
	switch {
	case n == 0:
	case !direct(&mem[0], size):
		r.bulk(mem, off, size, o, t, data, old)
	case r.Fine:
		each(mem, size, o, t, data, old)
	case n > r.few()*size:
		r.bulk(mem, off, size, o, t, data, old)
	default:
		for {
			part := head(off+r.Base, len(mem), size)
			stripe := shmfmt.Stripe(off + r.Base)
			only := r.enter(stripe)
			each(mem[:part], size, o, t, data, old)
			r.leave(stripe, only)
			if part == len(mem) {
				return
			}
			off, mem, data, old = off+int64(part), mem[part:], after(data, part), after(old, part)
		}
	}
}

// FetchOp is Accumulate of one element; value may be nil for NoOp, and old for others.
//
// It costs 4 ns and one atomic operation if this process alone uses the stripe; otherwise 4 ns,
// a load and three atomic operations, two of them on a cache line of this process. In a Fine
// region it costs one atomic operation.
func (r *Region) FetchOp(off int64, o op.Op, t op.Type, value, old []byte) {
	size := t.Size()
	mem := r.Mem[off : off+int64(size)]
	if o == op.NoOp {
		value = nil
	}
	if !direct(&mem[0], size) {
		r.bulk(mem, off, size, o, t, value, old)
		return
	}
	if r.Fine {
		element(unsafe.Pointer(&mem[0]), size, o, t, value, old)
		return
	}
	stripe := shmfmt.Stripe(off + r.Base)
	if size <= 8 && r.Stripes.Biased(stripe, r.Me) && r.Stripes.ClaimBiased(stripe, r.Me) {
		alone(unsafe.Pointer(&mem[0]), size, o, t, value, old)
		r.Stripes.ReleaseBiased(stripe, r.Me)
		return
	}
	only := r.enter(stripe)
	element(unsafe.Pointer(&mem[0]), size, o, t, value, old)
	r.leave(stripe, only)
}

// CompareSwap stores value at off if the element there equals compare, bit by bit, and stores the
// previous value in old. All have size bytes: 1, 2, 4, 8 or 16. It costs the same as FetchOp.
func (r *Region) CompareSwap(off int64, size int, value, compare, old []byte) {
	mem := r.Mem[off : off+int64(size)]
	value, compare, old = value[:size], compare[:size], old[:size]
	stripe := shmfmt.Stripe(off + r.Base)
	if planted.StripeOfTheEnd {
		stripe = shmfmt.Stripe(off + r.Base + int64(size) - 1)
	}
	switch {
	case !direct(&mem[0], size):
		r.lock(stripe)
		var was [16]byte
		before := was[:copy(was[:], mem)]
		if string(before) == string(compare) {
			storeWhole(mem, value, size)
		}
		r.unlock(stripe)
		copy(old, before)
	case r.Fine:
		compareSwap(unsafe.Pointer(&mem[0]), size, value, compare, old)
	case size <= 8 && r.Stripes.Biased(stripe, r.Me) && r.Stripes.ClaimBiased(stripe, r.Me):
		compareSwapAlone(unsafe.Pointer(&mem[0]), size, value, compare, old)
		r.Stripes.ReleaseBiased(stripe, r.Me)
	default:
		only := r.enter(stripe)
		compareSwap(unsafe.Pointer(&mem[0]), size, value, compare, old)
		r.leave(stripe, only)
	}
}

// piece is the number of bytes that an operation processes at a time if it passes over them
// twice, or goes from the end to the start, so that they are in the first-level cache at the
// second pass.
const piece = 12 << 10

// bulk updates elements under the writer's lock of their stripes, one stripe after the other.
// Without vector kernels it releases the stripe after each piece, since other processes would
// wait long.
func (r *Region) bulk(mem []byte, off int64, size int, o op.Op, t op.Type, data, old []byte) {
	slow, down := false, false
	if len(mem) > piece {
		slow = o != op.NoOp && o != op.Replace && !r.Kernel.Covers(o, t)
		down = sys.SweepDown(unsafe.Pointer(&mem[0]))
	}
	held := -1
	for from, to := 0, len(mem); from < to; {
		var lo, hi int
		if down {
			lo, hi = tail(off+r.Base, from, to, size), to
			to = lo
		} else {
			lo, hi = from, from+min(head(off+r.Base+int64(from), to-from, size), piece)
			from = hi
		}
		now := mem[lo:hi]
		if planted.FetchedOutside && old != nil {
			copy(old[lo:hi], now)
		}
		if stripe := shmfmt.Stripe(off + r.Base + int64(lo)); stripe != held {
			if held >= 0 {
				r.unlock(held)
			}
			r.lock(stripe)
			held = stripe
		}
		if old != nil && !planted.FetchedOutside {
			copy(old[lo:hi], now)
		}
		switch {
		case o == op.NoOp:
		case composed(t, size):
			r.combine(o, t, size, now, data[lo:hi])
		default:
			r.Kernel.Apply(o, t, now, now, data[lo:hi]) // Replace is a copy
		}
		if slow {
			r.unlock(held)
			held = -1
		}
	}
	if held >= 0 {
		r.unlock(held)
	}
}

// head returns how many of the n bytes at off belong to elements that begin in the same stripe
// as the first element.
func head(off int64, n, size int) int {
	room := int(shmfmt.StripeEnd(off) - off)
	return min(n, (room+size-1)&^(size-1)) // sizes are powers of two
}

// tail returns where the last piece of the elements between from and to begins. All elements of
// the piece begin in the stripe of the last one. from and to are relative to off.
func tail(off int64, from, to, size int) int {
	last := off + int64(to-size)
	before := int(last - (shmfmt.StripeEnd(last) - 1<<shmfmt.StripeShift)) // bytes of the stripe before it
	return max(from, to-size-before&^(size-1), to-piece)
}

// after returns b without its first n bytes, nil for nil.
func after(b []byte, n int) []byte {
	if b == nil {
		return nil
	}
	return b[n:]
}
