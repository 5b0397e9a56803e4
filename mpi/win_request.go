package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Rput is Put with a request that is complete when the program may reuse the Buffer. The program
// can wait for it together with requests of any other kind. It requires an epoch of Lock or
// LockAll; else it is ErrRMASync. Errors are returned when the program waits for the request.
//
// C: MPI_Rput and MPI_Rput_c, section 12.3.5.
func (u Untyped) Rput(origin Buffer, target int, disp int64, count int, d Datatype) Request {
	return u.start(call.Rput, &operands{place: elementsAt(target, disp, count, d)}, &origin, nil, nil)
}

// CompletedRequest is a request of an operation on a window that is already complete.
//
// C: none; for bindings whose compiled code completes MPI_Rput and its like by itself.
func (internals) CompletedRequest(c *Comm) Request {
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	r := e.NewRequest(c.core, call.Rput)
	e.Finish(r, nil)
	r.Told = r.Gen.Load() // C cannot keep whether it was, and freeing what is complete does no harm
	return newRequest(call.Rput, c, r)
}

// Rget is Get with a request that is complete when the Buffer contains the data: see Rput.
//
// C: MPI_Rget and MPI_Rget_c, section 12.3.5.
func (u Untyped) Rget(result Buffer, target int, disp int64, count int, d Datatype) Request {
	return u.start(call.Rget, &operands{place: elementsAt(target, disp, count, d)}, nil, nil, &result)
}

// Raccumulate is Accumulate with a request that is complete when the program may reuse the
// Buffer: see Rput.
//
// C: MPI_Raccumulate and MPI_Raccumulate_c, section 12.3.5.
func (u Untyped) Raccumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	return u.start(call.Raccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, nil)
}

// RgetAccumulate is GetAccumulate with a request that is complete when result contains the
// previous values: see Rput.
//
// C: MPI_Rget_accumulate and MPI_Rget_accumulate_c, section 12.3.5.
func (u Untyped) RgetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	return u.start(call.RgetAccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, &result)
}

// started is request for a call that does not use begin, with an error of the engine.
func (w *Window) started(r *p2p.Request, err error, k call.Number, target int) Request {
	if err != nil {
		return Request{err: w.failed(err, k, target)}
	}
	return w.request(k, r, nil)
}
