package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Rput is Put with a request that is complete when the Buffer may be used again. It can be
// waited for with requests of any other kind. Only in epochs of Lock and LockAll, else it
// is ErrRMASync; what is wrong shows when the request is waited for.
//
// C: MPI_Rput and MPI_Rput_c, section 12.3.5.
func (w *Window) Rput(origin Buffer, target int, disp int64, count int, d Datatype) Request {
	t, err := d.engine()
	return w.rput(&origin, target, disp, int64(count), t, err)
}

func (w *Window) rput(origin *Buffer, target int, disp, count int64, t *dtype.Type, err error) Request {
	if err := w.usable(callRput); err != nil {
		return Request{err: err}
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.put(origin, count, t)
	}
	if err == nil {
		err = w.fitsOrigin(origin, t, count)
	}
	var r *p2p.Request
	switch {
	case err != nil:
	case w.checks():
		r, err = w.checked(callRput, a, nil, target, disp)
	default:
		r, err = w.v.Rput(a.origin, target, disp, a.layout)
	}
	return w.started(r, err, callRput, target)
}

// CompletedRequest is the request of an operation on a window that is complete.
//
// C: none; for bindings whose compiled code completes MPI_Rput and its like by itself.
func (c *Comm) CompletedRequest() Request {
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	r := e.NewRequest(c.core, callRput.String())
	e.Finish(r, nil)
	return newRequest(callRput, c, r)
}

// Rget is Get with a request that is complete when the data is there: see Rput.
//
// C: MPI_Rget and MPI_Rget_c, section 12.3.5.
func (w *Window) Rget(result Buffer, target int, disp int64, count int, d Datatype) Request {
	t, err := d.engine()
	return w.rget(&result, target, disp, int64(count), t, err)
}

func (w *Window) rget(result *Buffer, target int, disp, count int64, t *dtype.Type, err error) Request {
	if err := w.usable(callRget); err != nil {
		return Request{err: err}
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.get(result, count, t)
	}
	if err == nil {
		err = w.fitsResult(result, t, count)
	}
	var r *p2p.Request
	switch {
	case err != nil:
	case w.checks():
		r, err = w.checked(callRget, a, nil, target, disp)
	default:
		r, err = w.v.Rget(a.result, target, disp, a.layout)
	}
	return w.started(r, err, callRget, target)
}

// Raccumulate is Accumulate with a request that is complete when the Buffer may be used
// again: see Rput.
//
// C: MPI_Raccumulate and MPI_Raccumulate_c, section 12.3.5.
func (w *Window) Raccumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	t, err := d.engine()
	return w.raccumulate(&origin, target, disp, int64(count), t, op, err)
}

func (w *Window) raccumulate(origin *Buffer, target int, disp, count int64, t *dtype.Type, o Op, err error) Request {
	if err := w.usable(callRaccumulate); err != nil {
		return Request{err: err}
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.accumulate(origin, nil, count, t, o)
	}
	if err == nil {
		err = w.fitsOrigin(origin, t, count)
	}
	var r *p2p.Request
	switch {
	case err != nil:
	case w.checks():
		r, err = w.checked(callRaccumulate, a, nil, target, disp)
	default:
		r, err = w.v.Raccumulate(a.origin, target, disp, a.layout, a.op, a.typ)
	}
	return w.started(r, err, callRaccumulate, target)
}

// RgetAccumulate is GetAccumulate with a request that is complete when what was fetched is
// there: see Rput.
//
// C: MPI_Rget_accumulate and MPI_Rget_accumulate_c, section 12.3.5.
func (w *Window) RgetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	t, err := d.engine()
	return w.rgetAccumulate(&origin, &result, target, disp, int64(count), t, op, err)
}

func (w *Window) rgetAccumulate(origin, result *Buffer, target int, disp, count int64, t *dtype.Type, o Op, err error) Request {
	if err := w.usable(callRgetAccumulate); err != nil {
		return Request{err: err}
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = a.accumulate(origin, result, count, t, o)
	}
	var r *p2p.Request
	switch {
	case err != nil:
	case w.checks():
		r, err = w.checked(callRgetAccumulate, a, nil, target, disp)
	default:
		r, err = w.v.RgetAccumulate(a.origin, a.result, target, disp, a.layout, a.op, a.typ)
	}
	return w.started(r, err, callRgetAccumulate, target)
}

// started is the request of an operation that the engine has begun, or refused.
func (w *Window) started(r *p2p.Request, err error, k call, target int) Request {
	if err != nil {
		return Request{err: w.failed(err, k, target)}
	}
	return watched(newRequest(k, w.c, r))
}
