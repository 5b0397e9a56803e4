package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// verb is the kind of a window operation, which determines its operands.
type verb uint8

const (
	verbPut            verb = iota + 1 // origin
	verbGet                            // result
	verbAccumulate                     // origin and operation
	verbGetAccumulate                  // origin, result and operation
	verbFetchAndOp                     // origin, result and operation, of one element
	verbCompareAndSwap                 // origin, compare and result, of one element
)

// winForms describes each call for a window operation: its verb, the completion that its request
// stands for, and whether it notifies the target. The calls of one verb differ in nothing else.
var winForms = [call.End]struct {
	verb     verb
	done     operation.Done
	notifies bool
}{
	call.Put:            {verb: verbPut},
	call.Get:            {verb: verbGet},
	call.Accumulate:     {verb: verbAccumulate},
	call.GetAccumulate:  {verb: verbGetAccumulate},
	call.FetchAndOp:     {verb: verbFetchAndOp},
	call.CompareAndSwap: {verb: verbCompareAndSwap},

	call.Rput:           {verb: verbPut, done: operation.Local},
	call.Rget:           {verb: verbGet, done: operation.Local},
	call.Raccumulate:    {verb: verbAccumulate, done: operation.Local},
	call.RgetAccumulate: {verb: verbGetAccumulate, done: operation.Local},

	call.Rrput:           {verb: verbPut, done: operation.Remote},
	call.Rraccumulate:    {verb: verbAccumulate, done: operation.Remote},
	call.RrgetAccumulate: {verb: verbGetAccumulate, done: operation.Remote},
	call.RfetchAndOp:     {verb: verbFetchAndOp, done: operation.Remote},
	call.RcompareAndSwap: {verb: verbCompareAndSwap, done: operation.Remote},
	call.FetchOp:         {verb: verbFetchAndOp, done: operation.Remote}, // the call waits for the completion
	call.CompareSwap:     {verb: verbCompareAndSwap, done: operation.Remote},

	call.PutNotify:            {verb: verbPut, notifies: true},
	call.GetNotify:            {verb: verbGet, notifies: true},
	call.AccumulateNotify:     {verb: verbAccumulate, notifies: true},
	call.GetAccumulateNotify:  {verb: verbGetAccumulate, notifies: true},
	call.FetchAndOpNotify:     {verb: verbFetchAndOp, notifies: true},
	call.CompareAndSwapNotify: {verb: verbCompareAndSwap, notifies: true},

	call.RputNotify:           {verb: verbPut, done: operation.Local, notifies: true},
	call.RgetNotify:           {verb: verbGet, done: operation.Local, notifies: true},
	call.RaccumulateNotify:    {verb: verbAccumulate, done: operation.Local, notifies: true},
	call.RgetAccumulateNotify: {verb: verbGetAccumulate, done: operation.Local, notifies: true},
}

// operands are the arguments of a call for an operation, except its Buffers. These are passed
// separately, so that they stay on the stack of the caller.
type operands struct {
	place
	op      Op
	counter int // the counter to notify
}

// place is the destination of an operation: count elements of a type in the memory of a rank. In
// operations of one element typ may be nil; then the Buffers determine it.
type place struct {
	target int
	disp   int64
	count  int64
	typ    *dtype.Type
	err    error // why the type is invalid; nil if it is valid
}

// elementsAt is the place for a call with a Datatype.
func elementsAt(target int, disp int64, count int, d Datatype) place {
	t, err := d.engine()
	return place{target, disp, int64(count), t, err}
}

// sliceAt is the place for a call that moves elements of T.
func sliceAt[T any](target, disp, count int) place {
	t, err := golang[T]()
	return place{target, int64(disp), int64(count), t, err}
}

// issue makes call k.
func (w *Window) issue(k call.Number, x *operands, origin, compare, result *Buffer) error {
	if _, err := w.begin(k, x, origin, compare, result); err != nil {
		return err
	}
	return nil
}

// start makes call k, which returns a request.
func (w *Window) start(k call.Number, x *operands, origin, compare, result *Buffer) Request {
	r, err := w.begin(k, x, origin, compare, result)
	return w.request(k, r, err)
}

// begin makes call k. Buffers that its verb does not have are ignored and may be nil. It returns
// the request of calls that return one.
func (w *Window) begin(k call.Number, x *operands, origin, compare, result *Buffer) (*p2p.Request, *Error) {
	if err := w.usable(k); err != nil {
		return nil, err
	}
	f := &winForms[k]
	o := operation.Op{Done: f.done, Disp: x.disp, Call: k}
	err := x.err
	if err == nil {
		err = x.fill(&o, f.verb, origin, compare, result)
	}
	if err == nil && f.notifies {
		o.Notify, err = rma.Notification(x.counter)
	}
	var r *p2p.Request
	switch {
	case err != nil:
	case !w.checks():
		r, err = w.v.Do(&o, x.target)
	default:
		err = x.fits(f.verb, origin, result)
		if err == nil {
			r, err = w.v.DoChecked(located(k), &o, x.target)
		}
	}
	if err != nil {
		return nil, w.failed(err, k, x.target)
	}
	return r, nil
}

// request is the request of an operation that has begun, or a request with the error.
func (w *Window) request(k call.Number, r *p2p.Request, err *Error) Request {
	if err != nil {
		return Request{err: err}
	}
	q := newRequest(k, w.c, r)
	if r.Reusable() {
		q.made |= madeReusable
	}
	return watched(q)
}

// issueSlices is issue for operands that are slices.
func issueSlices[T any](w *Window, k call.Number, origin, result []T, target, disp int, o Op, counter int) error {
	if _, err := beginSlices(w, k, origin, result, target, disp, o, counter); err != nil {
		return err
	}
	return nil
}

// startSlices is start for operands that are slices.
func startSlices[T any](w *Window, k call.Number, origin, result []T, target, disp int, o Op, counter int) Request {
	r, err := beginSlices(w, k, origin, result, target, disp, o, counter)
	return w.request(k, r, err)
}

// beginSlices is begin for operands that are slices. Slices of numbers go directly to the
// engine. Other elements, and calls that need the slow path, are handled as Buffers.
func beginSlices[T any](w *Window, k call.Number, origin, result []T, target, disp int, by Op, counter int) (*p2p.Request, *Error) {
	f := &winForms[k]
	o := operation.Op{Done: f.done, Disp: int64(disp), Call: k}
	if w.slowPath() || !fillNumbers(&o, f.verb, origin, result, by) {
		b, r := Buf(origin), Buf(result)
		return w.begin(k, &operands{place: sliceAt[T](target, disp, max(len(origin), len(result))), op: by, counter: counter}, &b, nil, &r)
	}
	var err error
	if f.notifies {
		o.Notify, err = rma.Notification(counter)
	}
	var r *p2p.Request
	if err == nil {
		r, err = w.v.Issue(&o, target)
	}
	if err != nil {
		return nil, w.failed(err, k, target)
	}
	return r, nil
}

// fillNumbers sets the operands of an operation on slices of numbers. It returns false if the
// elements are not numbers, or an operand is invalid.
func fillNumbers[T any](o *operation.Op, v verb, origin, result []T, by Op) bool {
	typ := plain[T]()
	switch {
	case typ == 0:
		return false
	case v == verbPut:
		o.Kind, o.Origin = operation.Put, mem.Of(memory(origin))
		return true
	case v == verbGet:
		o.Kind, o.Result = operation.Get, mem.Of(memory(result))
		return true
	case !by.accumulates(typ):
		return false
	}
	o.Kind, o.Fn, o.Elem = operation.Accumulate, by.kernel.On(typ), typ
	if v == verbAccumulate {
		o.Origin = mem.Of(memory(origin))
		return by.kernel != op.NoOp
	}
	o.Result = mem.Of(memory(result))
	if by.kernel == op.NoOp {
		return true
	}
	o.Origin = mem.Of(memory(origin))
	return len(origin) == len(result)
}

// fill sets the operands of an operation.
func (x *operands) fill(o *operation.Op, v verb, origin, compare, result *Buffer) error {
	switch v {
	case verbPut:
		return x.put(o, origin)
	case verbGet:
		return x.get(o, result)
	case verbAccumulate:
		return x.accumulate(o, origin, nil)
	case verbGetAccumulate:
		return x.accumulate(o, origin, result)
	case verbFetchAndOp:
		return x.fetch(o, origin, result)
	}
	return x.compareAndSwap(o, origin, compare, result)
}

// put sets the operands of a put: a message to the elements at the target, or to the first of
// them.
func (x *operands) put(o *operation.Op, origin *Buffer) error {
	if origin.err != nil {
		return origin.err
	}
	if err := movable(origin.b.Type()); err != nil {
		return err
	}
	if _, err := x.send(o, origin.b.Size()); err != nil {
		return err
	}
	o.Kind, o.Origin = operation.Put, mem.In(&origin.b)
	return nil
}

// send sets the layout at the target of a message of n bytes, and returns the number of elements
// of the target's type that it fills.
func (x *operands) send(o *operation.Op, n int64) (elements int64, err error) {
	size, err := writtenAt(o, x.count, x.typ)
	switch {
	case err != nil || n == size:
		return x.count, err
	case n > size:
		return 0, tooLong(n, size)
	case n%x.typ.Size() != 0:
		return 0, broken(n, x.typ)
	}
	_, err = writtenAt(o, n/x.typ.Size(), x.typ)
	return n / x.typ.Size(), err
}

// get sets the operands of a get, whose result has room for the elements at the target.
func (x *operands) get(o *operation.Op, result *Buffer) error {
	if err := writable(result); err != nil {
		return err
	}
	if err := movable(result.b.Type()); err != nil {
		return err
	}
	size, err := readAt(o, x.count, x.typ)
	if err != nil {
		return err
	}
	b := &result.b
	if room := b.Size(); size < room {
		each := b.Type().Size()
		if size%each != 0 {
			return broken(size, b.Type())
		}
		first := b.First(size / each)
		b = &first
	} else if size > room {
		return tooLong(size, room)
	}
	o.Kind, o.Result = operation.Get, mem.In(b)
	return nil
}

// writtenAt is readAt for data that is written.
func writtenAt(o *operation.Op, count int64, t *dtype.Type) (size int64, err error) {
	var b dtype.Buffer
	err = b.At(nil, t, count)
	if err == nil && b.Overlaps() {
		return 0, class.Errorf(class.Type, "%s cannot be accessed: bytes of memory at the target occur twice in it", t.Describe(count))
	}
	if err != nil {
		return 0, err
	}
	return readAt(o, count, t)
}

// readAt sets the layout of data at the target, and returns its size. Contiguous data needs no
// layout.
func readAt(o *operation.Op, count int64, t *dtype.Type) (size int64, err error) {
	var b dtype.Buffer
	err = b.At(nil, t, count)
	if err == nil {
		err = movable(t)
	}
	switch {
	case err != nil:
		return 0, err
	case t.Dense():
		o.Place = operation.Place{}
	default:
		o.Place = operation.Place{Type: t, Count: count}
	}
	return b.Size(), nil
}

// movable returns an error for handles, which are valid only in the process that received them
// in a message.
func movable(t *dtype.Type) error {
	if t != nil && t.IsHandle() {
		return class.Errorf(class.Type, "%s is for messages only: windows cannot hold handles", t)
	}
	return nil
}

func tooLong(n, room int64) error {
	return class.Errorf(class.Truncate, "%d bytes do not fit into %d bytes", n, room)
}

// broken is the error for data that ends within an element.
func broken(n int64, t *dtype.Type) error {
	return class.Errorf(class.Type, "%d bytes are not a whole number of elements of %s", n, t.Describe(1))
}

// writable returns an error if a Buffer cannot be written to.
func writable(b *Buffer) error {
	if b.err == nil && b.b.Overlaps() {
		return class.Errorf(class.Type, "%s cannot be a receive buffer: bytes of memory occur twice in it", b.b.Type().Describe(b.b.Count()))
	}
	return b.err
}

// plain is the operand type of numbers of type T, or 0 if T is not a number.
func plain[T any]() op.Type { return numberType(reflect.TypeFor[T]().Kind()) }
