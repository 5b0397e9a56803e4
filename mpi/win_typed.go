package mpi

import (
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// The shortest calls of Win and the functions for windows, for numbers, go directly to the
// engine. Other calls, and those that need the slow path, go through win_operands.go.

// Put copies origin into the memory of a rank, starting at displacement disp. When it returns,
// the operation has only begun: see Untyped.Put, also for the errors.
//
// C: MPI_Put, section 12.3.1.
func (w Win[T]) Put(origin []T, target, disp int) error {
	return Put(w.Window, origin, target, disp)
}

// Put is Win.Put for a window with elements of several types: disp is in displacement units of
// the window.
//
// C: MPI_Put, section 12.3.1.
func Put[T any](w *Window, origin []T, target, disp int) error {
	if plain[T]() == 0 || w.slowPath() {
		return issueSlices(w, call.Put, origin, nil, target, disp, Op{}, 0)
	}
	if err := w.v.PutBytes(memory(origin), target, int64(disp)); err != nil {
		return w.failed(err, call.Put, target)
	}
	return nil
}

// Get copies len(result) elements from the memory of a rank, starting at displacement disp.
// result contains them after FlushLocal or the end of the epoch: see Untyped.Get.
//
// C: MPI_Get, section 12.3.2.
func (w Win[T]) Get(result []T, target, disp int) error {
	return Get(w.Window, result, target, disp)
}

// Get is Win.Get for a window with elements of several types, as Put is.
//
// C: MPI_Get, section 12.3.2.
func Get[T any](w *Window, result []T, target, disp int) error {
	if plain[T]() == 0 || w.slowPath() {
		return issueSlices(w, call.Get, nil, result, target, disp, Op{}, 0)
	}
	if err := w.v.GetBytes(memory(result), target, int64(disp)); err != nil {
		return w.failed(err, call.Get, target)
	}
	return nil
}

// Accumulate combines each element of origin with the element in the memory of a rank, starting
// at displacement disp, by a predefined operation: see Untyped.Accumulate.
//
// C: MPI_Accumulate, section 12.3.4.
func (w Win[T]) Accumulate(origin []T, target, disp int, o Op) error {
	return Accumulate(w.Window, origin, target, disp, o)
}

// Accumulate is Win.Accumulate for a window with elements of several types, as Put is.
//
// C: MPI_Accumulate, section 12.3.4.
func Accumulate[T any](w *Window, origin []T, target, disp int, o Op) error {
	typ := plain[T]()
	if o.kernel != op.NoOp && o.accumulates(typ) && !w.slowPath() &&
		w.v.Accumulated(memory(origin), nil, target, int64(disp), o.kernel.On(typ), typ) {
		return nil
	}
	return issueSlices(w, call.Accumulate, origin, nil, target, disp, o, 0)
}

// GetAccumulate is Accumulate that also fetches the previous values of the elements into result,
// which has the same length. With NoOp the elements do not change, and origin may be nil.
//
// C: MPI_Get_accumulate, section 12.3.4.
func (w Win[T]) GetAccumulate(origin, result []T, target, disp int, o Op) error {
	return GetAccumulate(w.Window, origin, result, target, disp, o)
}

// GetAccumulate is Win.GetAccumulate for a window with elements of several types, as Put is.
//
// C: MPI_Get_accumulate, section 12.3.4.
func GetAccumulate[T any](w *Window, origin, result []T, target, disp int, o Op) error {
	typ := plain[T]()
	if len(result) > 0 && o.accumulates(typ) && !w.slowPath() &&
		w.v.Accumulated(memory(origin), memory(result), target, int64(disp), o.kernel.On(typ), typ) {
		return nil
	}
	return issueSlices(w, call.GetAccumulate, origin, result, target, disp, o, 0)
}

// FetchAndOp combines value with the element at displacement disp of a rank's memory by a
// predefined operation, and fetches the previous value of the element into result. With NoOp,
// which only reads, value may be nil; other nil pointers are ErrBuffer. See Untyped.FetchAndOp.
//
// C: MPI_Fetch_and_op, section 12.3.4.
func (w Win[T]) FetchAndOp(value, result *T, target, disp int, o Op) error {
	typ := plain[T]()
	if value == nil || result == nil {
		v, r := one(value), one(result)
		return w.issue(call.FetchAndOp, &operands{place: sliceAt[T](target, disp, 1), op: o}, &v, nil, &r)
	}
	if o.accumulates(typ) && !w.slowPath() && w.v.Fetched(alone(value), alone(result), target, int64(disp), o.kernel.On(typ), typ) {
		return nil
	}
	return issueSlices(w.Window, call.FetchAndOp, unsafe.Slice(value, 1), unsafe.Slice(result, 1), target, disp, o, 0)
}

// CompareAndSwap atomically replaces the element at displacement disp of a rank's memory by
// value if it equals compare, and fetches its previous value into result. It is for booleans and
// integers; other types are ErrType, and nil pointers are ErrBuffer. See Untyped.CompareAndSwap.
//
// C: MPI_Compare_and_swap, section 12.3.4.
func (w Win[T]) CompareAndSwap(value, compare, result *T, target, disp int) error {
	typ := plain[T]()
	if value == nil || compare == nil || result == nil || typ == 0 || typ >= op.Float32 || w.slowPath() {
		return w.Untyped().CompareAndSwap(one(value), one(compare), one(result), target, int64(disp))
	}
	if unsafe.Sizeof(*value) == 8 {
		v, c := *(*uint64)(unsafe.Pointer(value)), *(*uint64)(unsafe.Pointer(compare))
		if was, ok := w.v.CompareAndSwap8(v, c, target, int64(disp)); ok {
			*(*uint64)(unsafe.Pointer(result)) = was
			return nil
		}
	}
	if w.v.Swapped(alone(value), alone(compare), alone(result), target, int64(disp), typ) {
		return nil
	}
	_, err := w.v.Issue(&operation.Op{
		Kind: operation.CompareAndSwap, Elem: typ, Origin: mem.Of(alone(value)), Compare: alone(compare), Result: mem.Of(alone(result)),
		Disp: int64(disp), Call: call.CompareAndSwap,
	}, target)
	return w.done(err, call.CompareAndSwap, target)
}

// FetchOp combines value with the element at displacement disp of a rank's memory by a
// predefined operation, and returns the previous value of the element as soon as it is known: it
// is FetchAndOp that waits for its own completion. Operations that were issued before need not
// be complete. With NoOp, which only reads, value is ignored. With ProcNull, and with an error,
// the result is zero. It requires an epoch of Lock or LockAll; else it is ErrRMASync. For other
// errors see FetchAndOp.
//
// C: none; MPI_Fetch_and_op, section 12.3.4, and a wait for it.
func (w Win[T]) FetchOp(value T, target, disp int, o Op) (T, error) {
	var was T
	if typ := plain[T](); o.accumulates(typ) && !w.slowPath() && w.v.Passive(target) &&
		w.v.Fetched(alone(&value), alone(&was), target, int64(disp), o.kernel.On(typ), typ) {
		return was, nil
	}
	s := scratches.Get().(*scratch)
	v, r := element[T](s, 0), element[T](s, 1)
	*v, *r = value, was
	from, to := one(v), one(r)
	q := w.start(call.FetchOp, &operands{place: sliceAt[T](target, disp, 1), op: o}, &from, nil, &to)
	_, err := q.Wait()
	return fetched(s, r, err)
}

// CompareSwap atomically replaces the element at displacement disp of a rank's memory by value
// if it equals compare, and returns its previous value as soon as it is known: it is
// CompareAndSwap that waits for its own completion, as FetchOp does.
//
// C: none; MPI_Compare_and_swap, section 12.3.4, and a wait for it.
func (w Win[T]) CompareSwap(value, compare T, target, disp int) (T, error) {
	var was T
	if typ := plain[T](); typ != 0 && typ < op.Float32 && !w.slowPath() && w.v.Passive(target) &&
		w.v.Swapped(alone(&value), alone(&compare), alone(&was), target, int64(disp), typ) {
		return was, nil
	}
	s := scratches.Get().(*scratch)
	v, c, r := element[T](s, 0), element[T](s, 1), element[T](s, 2)
	*v, *c, *r = value, compare, was
	from, with, to := one(v), one(c), one(r)
	q := w.start(call.CompareSwap, &operands{place: place{target: target, disp: int64(disp)}}, &from, &with, &to)
	_, err := q.Wait()
	return fetched(s, r, err)
}

// scratch is memory for the operands of a call that waits. The engine stores their addresses, so
// that local variables of the call would escape to the heap.
type scratch [3][2]uint64

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// fetched returns the value in r, which is part of s. It gives s back to the pool unless the
// call has failed.
func fetched[T any](s *scratch, r *T, err error) (was T, _ error) {
	if err == nil {
		was = *r
		scratches.Put(s)
	}
	return was, err
}

// element returns memory for operand i.
func element[T any](s *scratch, i int) *T {
	if plain[T]() == 0 {
		return new(T)
	}
	return (*T)(unsafe.Pointer(&s[i]))
}

// one is a Buffer of one element, with an error if p is nil.
func one[T any](p *T) Buffer {
	if p == nil {
		return Buffer{err: class.Errorf(class.Buffer, "a pointer to an element is nil")}
	}
	return Buf(unsafe.Slice(p, 1))
}

// alone returns the memory of one number.
func alone[T any](p *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// Rput is Put with a request: see Untyped.Rput.
//
// C: MPI_Rput, section 12.3.5.
func (w Win[T]) Rput(origin []T, target, disp int) Request {
	if plain[T]() == 0 || w.slowPath() {
		return startSlices(w.Window, call.Rput, origin, nil, target, disp, Op{}, 0)
	}
	r, err := w.v.PutRequest(memory(origin), target, int64(disp))
	return w.started(r, err, call.Rput, target)
}

// Rget is Get with a request: see Untyped.Rget.
//
// C: MPI_Rget, section 12.3.5.
func (w Win[T]) Rget(result []T, target, disp int) Request {
	if plain[T]() == 0 || w.slowPath() {
		return startSlices(w.Window, call.Rget, nil, result, target, disp, Op{}, 0)
	}
	r, err := w.v.GetRequest(memory(result), target, int64(disp))
	return w.started(r, err, call.Rget, target)
}

// Raccumulate is Accumulate with a request: see Untyped.Raccumulate.
//
// C: MPI_Raccumulate, section 12.3.5.
func (w Win[T]) Raccumulate(origin []T, target, disp int, o Op) Request {
	return startSlices(w.Window, call.Raccumulate, origin, nil, target, disp, o, 0)
}

// RgetAccumulate is GetAccumulate with a request: see Untyped.RgetAccumulate.
//
// C: MPI_Rget_accumulate, section 12.3.5.
func (w Win[T]) RgetAccumulate(origin, result []T, target, disp int, o Op) Request {
	return startSlices(w.Window, call.RgetAccumulate, origin, result, target, disp, o, 0)
}

// plainOps has for each type of numbers the operations that are defined on it, as bits.
var plainOps = func() (defined [16]uint16) {
	for t := op.Bool; t <= op.Complex128; t++ {
		for o := op.Op(1); int(o) <= op.Ops; o++ {
			if o.Accumulates(t) {
				defined[t] |= 1 << o
			}
		}
	}
	return defined
}()

// accumulates reports whether o is a predefined operation that is defined on numbers of type t,
// which is a result of plain; t is 0 if the elements are not numbers.
func (o Op) accumulates(t op.Type) bool {
	return o.user == nil && plainOps[t&15]>>o.kernel.Bare()&1 != 0
}
