package mpi

import (
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
)

// The shortest calls of Win and its functions, for numbers, go straight to the engine. The others,
// and whatever is out of the ordinary, take the ways of win_operands.go.

// Put copies origin into the memory of a rank, from displacement disp on. It has begun
// when it returns: see Window.Put, also for the errors.
//
// C: MPI_Put, section 12.3.1.
func (w Win[T]) Put(origin []T, target, disp int) error {
	return Put(w.Window, origin, target, disp)
}

// Put is Win.Put to a window of elements of several types: displacements count what the window was
// made with.
//
// C: MPI_Put, section 12.3.1.
func Put[T any](w *Window, origin []T, target, disp int) error {
	if plain[T]() == 0 || w.slowPath() {
		return issueSlices(w, callPut, origin, nil, target, disp, Op{}, 0)
	}
	if err := w.v.PutBytes(memory(origin), target, int64(disp)); err != nil {
		return w.failed(err, callPut, target)
	}
	return nil
}

// Get copies from the memory of a rank, from displacement disp on, as much as there is room
// for in result, where it is after FlushLocal or the end of the epoch: see Window.Get.
//
// C: MPI_Get, section 12.3.2.
func (w Win[T]) Get(result []T, target, disp int) error {
	return Get(w.Window, result, target, disp)
}

// Get is Win.Get from a window of elements of several types, as Put.
//
// C: MPI_Get, section 12.3.2.
func Get[T any](w *Window, result []T, target, disp int) error {
	if plain[T]() == 0 || w.slowPath() {
		return issueSlices(w, callGet, nil, result, target, disp, Op{}, 0)
	}
	if err := w.v.GetBytes(memory(result), target, int64(disp)); err != nil {
		return w.failed(err, callGet, target)
	}
	return nil
}

// Accumulate combines each element of origin with that of a rank's memory, from
// displacement disp on, by a predefined operation: see Window.Accumulate.
//
// C: MPI_Accumulate, section 12.3.4.
func (w Win[T]) Accumulate(origin []T, target, disp int, o Op) error {
	return Accumulate(w.Window, origin, target, disp, o)
}

// Accumulate is Win.Accumulate to a window of elements of several types, as Put.
//
// C: MPI_Accumulate, section 12.3.4.
func Accumulate[T any](w *Window, origin []T, target, disp int, o Op) error {
	typ := plain[T]()
	if o.kernel != op.NoOp && o.accumulates(typ) && !w.slowPath() &&
		w.v.Accumulated(memory(origin), nil, target, int64(disp), o.kernel.On(typ), typ) {
		return nil
	}
	return issueSlices(w, callAccumulate, origin, nil, target, disp, o, 0)
}

// GetAccumulate is Accumulate that fetches what the elements were before into result, of
// the same length. With NoOp they stay as they are, and origin may be nil.
//
// C: MPI_Get_accumulate, section 12.3.4.
func (w Win[T]) GetAccumulate(origin, result []T, target, disp int, o Op) error {
	return GetAccumulate(w.Window, origin, result, target, disp, o)
}

// GetAccumulate is Win.GetAccumulate to a window of elements of several types, as Put.
//
// C: MPI_Get_accumulate, section 12.3.4.
func GetAccumulate[T any](w *Window, origin, result []T, target, disp int, o Op) error {
	typ := plain[T]()
	if len(result) > 0 && o.accumulates(typ) && !w.slowPath() &&
		w.v.Accumulated(memory(origin), memory(result), target, int64(disp), o.kernel.On(typ), typ) {
		return nil
	}
	return issueSlices(w, callGetAccumulate, origin, result, target, disp, o, 0)
}

// FetchAndOp combines value with the element at displacement disp of a rank's memory by a
// predefined operation, and fetches what that was before into result. With NoOp, which
// only reads, value may be nil; another pointer that is nil is ErrBuffer. See
// Window.FetchAndOp.
//
// C: MPI_Fetch_and_op, section 12.3.4.
func (w Win[T]) FetchAndOp(value, result *T, target, disp int, o Op) error {
	typ := plain[T]()
	if value == nil || result == nil {
		v, r := one(value), one(result)
		return w.issue(callFetchAndOp, &operands{place: sliceAt[T](target, disp, 1), op: o}, &v, nil, &r)
	}
	if o.accumulates(typ) && !w.slowPath() && w.v.Fetched(alone(value), alone(result), target, int64(disp), o.kernel.On(typ), typ) {
		return nil
	}
	return issueSlices(w.Window, callFetchAndOp, unsafe.Slice(value, 1), unsafe.Slice(result, 1), target, disp, o, 0)
}

// CompareAndSwap replaces the element at displacement disp of a rank's memory by value if
// it equals compare, in one step, and fetches what it was into result. It is for booleans
// and integers, else it is ErrType; a pointer that is nil is ErrBuffer. See
// Window.CompareAndSwap.
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
	_, err := w.v.Issue(&rma.Op{
		Kind: rma.CompareAndSwap, Elem: typ, Origin: mem.Of(alone(value)), Compare: alone(compare), Result: mem.Of(alone(result)),
		Disp: int64(disp), Call: "CompareAndSwap",
	}, target)
	return w.done(err, callCompareAndSwap, target)
}

// FetchOp combines value with the element at displacement disp of a rank's memory by a predefined
// operation, and returns what that was before, as soon as it is known: FetchAndOp that waits for
// itself. What was issued before it need not be complete. With NoOp, which only reads, value does
// not matter; with ProcNull the result is zero, as it is with an error. It is for epochs of Lock and
// LockAll, else it is ErrRMASync; see FetchAndOp for other errors.
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
	q := w.start(callFetchOp, &operands{place: sliceAt[T](target, disp, 1), op: o}, &from, nil, &to)
	_, err := q.Wait()
	return fetched(s, r, err)
}

// CompareSwap replaces the element at displacement disp of a rank's memory by value if it equals
// compare, in one step, and returns what it was, as soon as that is known: CompareAndSwap that
// waits for itself, as FetchOp does.
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
	q := w.start(callCompareSwap, &operands{place: place{target: target, disp: int64(disp)}}, &from, &with, &to)
	_, err := q.Wait()
	return fetched(s, r, err)
}

// scratch is memory for the operands of a call that waits. The engine keeps their addresses, so
// variables of the call would be moved to the heap.
type scratch [3][2]uint64

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// fetched is what has been fetched into r, which is of s; s is used again unless the call has failed.
func fetched[T any](s *scratch, r *T, err error) (was T, _ error) {
	if err == nil {
		was = *r
		scratches.Put(s)
	}
	return was, err
}

// element is memory for operand i.
func element[T any](s *scratch, i int) *T {
	if plain[T]() == 0 {
		return new(T)
	}
	return (*T)(unsafe.Pointer(&s[i]))
}

// one is a Buffer of one element, or the error that there is none.
func one[T any](p *T) Buffer {
	if p == nil {
		return Buffer{err: wrong(ErrBuffer, "a pointer to an element is nil")}
	}
	return Buf(unsafe.Slice(p, 1))
}

// alone is the memory of one number.
func alone[T any](p *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// Rput is Put with a request: see Window.Rput.
//
// C: MPI_Rput, section 12.3.5.
func (w Win[T]) Rput(origin []T, target, disp int) Request {
	if plain[T]() == 0 || w.slowPath() {
		return startSlices(w.Window, callRput, origin, nil, target, disp, Op{}, 0)
	}
	r, err := w.v.Issue(&rma.Op{Kind: rma.Put, Done: rma.Local, Origin: mem.Of(memory(origin)), Disp: int64(disp), Call: "Rput"}, target)
	return w.started(r, err, callRput, target)
}

// Rget is Get with a request: see Window.Rget.
//
// C: MPI_Rget, section 12.3.5.
func (w Win[T]) Rget(result []T, target, disp int) Request {
	if plain[T]() == 0 || w.slowPath() {
		return startSlices(w.Window, callRget, nil, result, target, disp, Op{}, 0)
	}
	r, err := w.v.Issue(&rma.Op{Kind: rma.Get, Done: rma.Local, Result: mem.Of(memory(result)), Disp: int64(disp), Call: "Rget"}, target)
	return w.started(r, err, callRget, target)
}

// Raccumulate is Accumulate with a request: see Window.Raccumulate.
//
// C: MPI_Raccumulate, section 12.3.5.
func (w Win[T]) Raccumulate(origin []T, target, disp int, o Op) Request {
	return startSlices(w.Window, callRaccumulate, origin, nil, target, disp, o, 0)
}

// RgetAccumulate is GetAccumulate with a request: see Window.RgetAccumulate.
//
// C: MPI_Rget_accumulate, section 12.3.5.
func (w Win[T]) RgetAccumulate(origin, result []T, target, disp int, o Op) Request {
	return startSlices(w.Window, callRgetAccumulate, origin, result, target, disp, o, 0)
}

// plainOps are the operations that are defined on numbers of each type, as bits.
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

// accumulates reports whether o is a predefined operation that is defined on numbers of a
// type of plain, which is 0 for none.
func (o Op) accumulates(t op.Type) bool {
	return o.user == nil && plainOps[t&15]>>o.kernel.Bare()&1 != 0
}
