package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// Put copies a Buffer into the memory of a rank: to count elements of type d, whose
// displacement 0 is disp units of the target from the beginning of its memory. It has
// begun when it returns; the Buffer may be used again, and the data is there, when the
// epoch has ended, or after FlushLocal and Flush.
//
// As with messages the two sides may have different layouts of the same numbers, and the
// data may be shorter than there is room for, by whole elements of d; longer data is
// ErrTruncate. With ProcNull nothing happens. Errors of this call and those that
// follow: ErrRank for a target that is none, ErrRMASync without an epoch in which it may be
// accessed, ErrDisp for a negative displacement, ErrRMARange if not all is within the
// target's memory; ErrType, ErrCount and ErrBuffer for what is wrong with Buffer, count
// and type. Then nothing has been changed.
//
// C: MPI_Put and MPI_Put_c, section 12.3.1.
func (w *Window) Put(origin Buffer, target int, disp int64, count int, d Datatype) error {
	t, err := d.engine()
	return w.put(&origin, target, disp, int64(count), t, err)
}

// put is Put to elements of t, or says what is wrong with that.
func (w *Window) put(origin *Buffer, target int, disp, count int64, t *dtype.Type, err error) error {
	if err := w.usable(callPut); err != nil {
		return err
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.put(origin, count, t)
	}
	if err == nil {
		err = w.fitsOrigin(origin, t, count)
	}
	switch {
	case err != nil:
	case w.checks():
		_, err = w.checked(callPut, a, nil, target, disp)
	default:
		err = w.v.Put(a.origin, target, disp, a.layout)
	}
	return w.done(err, callPut, target)
}

// Get copies count elements of type d from the memory of a rank into a Buffer, in which
// they are when the epoch has ended, or after FlushLocal: see Put. There may be more room,
// by whole elements of the Buffer.
//
// C: MPI_Get and MPI_Get_c, section 12.3.2.
func (w *Window) Get(result Buffer, target int, disp int64, count int, d Datatype) error {
	t, err := d.engine()
	return w.get(&result, target, disp, int64(count), t, err)
}

func (w *Window) get(result *Buffer, target int, disp, count int64, t *dtype.Type, err error) error {
	if err := w.usable(callGet); err != nil {
		return err
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.get(result, count, t)
	}
	if err == nil {
		err = w.fitsResult(result, t, count)
	}
	switch {
	case err != nil:
	case w.checks():
		_, err = w.checked(callGet, a, nil, target, disp)
	default:
		err = w.v.Get(a.result, target, disp, a.layout)
	}
	return w.done(err, callGet, target)
}

// Accumulate combines the elements of a Buffer with those at the target by a predefined
// operation, or replaces these with Replace, each as a whole whatever others do with it.
// Datatypes on both sides are made of elements of one predefined type, the same one, or it
// is ErrType; operations that are not defined on it are ErrOp, as are those of programs.
// Of no elements neither matters. Else it is as Put.
//
// C: MPI_Accumulate and MPI_Accumulate_c, section 12.3.4.
func (w *Window) Accumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) error {
	t, err := d.engine()
	return w.accumulate(&origin, target, disp, int64(count), t, op, err)
}

func (w *Window) accumulate(origin *Buffer, target int, disp, count int64, t *dtype.Type, o Op, err error) error {
	if err := w.usable(callAccumulate); err != nil {
		return err
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.accumulate(origin, nil, count, t, o)
	}
	if err == nil {
		err = w.fitsOrigin(origin, t, count)
	}
	switch {
	case err != nil:
	case w.checks():
		_, err = w.checked(callAccumulate, a, nil, target, disp)
	default:
		err = w.v.Accumulate(a.origin, target, disp, a.layout, a.op, a.typ)
	}
	return w.done(err, callAccumulate, target)
}

// GetAccumulate is Accumulate that fetches what the elements were before into result,
// which has room for just as much. With NoOp they stay as they are, and origin is not
// looked at.
//
// C: MPI_Get_accumulate and MPI_Get_accumulate_c, section 12.3.4.
func (w *Window) GetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) error {
	t, err := d.engine()
	return w.getAccumulate(&origin, &result, target, disp, int64(count), t, op, err)
}

func (w *Window) getAccumulate(origin, result *Buffer, target int, disp, count int64, t *dtype.Type, o Op, err error) error {
	if err := w.usable(callGetAccumulate); err != nil {
		return err
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.accumulate(origin, result, count, t, o)
	}
	switch {
	case err != nil:
	case w.checks():
		_, err = w.checked(callGetAccumulate, a, nil, target, disp)
	default:
		err = w.v.GetAccumulate(a.origin, a.result, target, disp, a.layout, a.op, a.typ)
	}
	return w.done(err, callGetAccumulate, target)
}

// FetchAndOp is GetAccumulate of one element: value and result are Buffers of one element
// of a predefined type, which is that at the target, too. It is the fastest call that
// changes memory of others in one step.
//
// C: MPI_Fetch_and_op, section 12.3.4.
func (w *Window) FetchAndOp(value, result Buffer, target int, disp int64, op Op) error {
	if err := w.usable(callFetchAndOp); err != nil {
		return err
	}
	a := newAccess()
	defer a.release()
	err := a.fetch(&value, &result, op)
	switch {
	case err != nil:
	case w.checks():
		_, err = w.checked(callFetchAndOp, a, nil, target, disp)
	default:
		err = w.v.FetchAndOp(a.origin.Bytes, a.result.Bytes, target, disp, a.op, a.typ)
	}
	return w.done(err, callFetchAndOp, target)
}

// fetch fills in the operands of a FetchAndOp.
func (a *access) fetch(value, result *Buffer, o Op) error {
	if result.err != nil {
		return result.err
	}
	if err := single(result); err != nil {
		return err
	}
	if o.kernel != op.NoOp && value.err == nil {
		if err := single(value); err != nil {
			return err
		}
	}
	return a.accumulate(value, result, 1, result.b.Type(), o)
}

// single fails unless a Buffer is one element of a predefined type.
func single(b *Buffer) error {
	t := b.b.Type()
	switch {
	case b.b.Count() != 1:
		return wrong(ErrCount, "%d elements, not 1", b.b.Count())
	case t.Elem() == nil:
		if _, _, pair := t.Pair(); !pair {
			return wrong(ErrType, "%s is not predefined", t)
		}
	}
	return nil
}

// CompareAndSwap replaces the element at the target by value if it equals compare, in one
// step, and fetches what it was into result: three Buffers of one element of a predefined
// type of integers, logicals or bytes, or MPI_CHAR. Others are ErrType.
//
// C: MPI_Compare_and_swap, section 12.3.4.
func (w *Window) CompareAndSwap(value, compare, result Buffer, target int, disp int64) error {
	if err := w.usable(callCompareAndSwap); err != nil {
		return err
	}
	a := newAccess()
	defer a.release()
	operand, err := a.compare(&value, &compare, &result)
	switch {
	case err != nil:
	case w.checks():
		_, err = w.checked(callCompareAndSwap, a, operand, target, disp)
	default:
		err = w.v.CompareAndSwap(a.origin.Bytes, operand, a.result.Bytes, target, disp, a.typ)
	}
	return w.done(err, callCompareAndSwap, target)
}

// compare fills in the operands of a CompareAndSwap, and returns the one to compare with.
func (a *access) compare(value, compare, result *Buffer) ([]byte, error) {
	if compare.err != nil {
		return nil, compare.err
	}
	if err := single(compare); err != nil {
		return nil, err
	}
	if err := a.fetch(value, result, Replace); err != nil {
		return nil, err
	}
	if _, typ, err := accumulated(op.Replace, compare.b.Type()); err != nil || typ != a.typ {
		return nil, wrong(ErrType, "elements to compare are %s, to fetch %s", compare.b.Type(), result.b.Type())
	}
	if e := result.b.Type().Elem(); !compares(e) {
		return nil, wrong(ErrType, "elements of %s are not compared: only integers, logicals and bytes", result.b.Type())
	}
	bytes, _ := compare.b.Contiguous()
	return bytes, nil
}

// compares reports whether CompareAndSwap is defined on elements.
func compares(e *dtype.Elem) bool {
	if e == nil {
		return false
	}
	switch e.Kind {
	case dtype.Integer, dtype.Natural, dtype.Logical, dtype.Boolean, dtype.Raw:
		return true
	case dtype.Character:
		return e.ID == dtype.Char // beyond the standard, as operations are
	}
	return false
}

// done is what a call returns that the engine has carried out, or refused.
func (w *Window) done(err error, k call, target int) error {
	if err == nil {
		return nil
	}
	return w.failed(err, k, target)
}
