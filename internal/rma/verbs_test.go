package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// The verbs, as tests write them: each is Do of one Op.

// do is Do of an operation without a request.
func (v *View) do(o *Op, target int) error {
	_, err := v.Do(o, target)
	return err
}

func putOp(origin mem.Mem, disp int64, p Place) *Op {
	return &Op{Kind: Put, Origin: origin, Disp: disp, Place: p, Call: call.Put}
}

func getOp(result mem.Mem, disp int64, p Place) *Op {
	return &Op{Kind: Get, Result: result, Disp: disp, Place: p, Call: call.Get}
}

func accumulateOp(origin, result mem.Mem, disp int64, p Place, o op.Op, t op.Type) *Op {
	return &Op{Kind: Accumulate, Fn: o, Elem: t, Origin: origin, Result: result, Disp: disp, Place: p, Call: call.Accumulate}
}

// with is o with a request.
func (o *Op) with(d Done, by call.Number) *Op {
	o.Done, o.Call = d, by
	return o
}

// notifies is o with a notification.
func (o *Op) notifies(counter int) (*Op, error) {
	var err error
	o.Notify, err = Notification(counter)
	return o, err
}

func (v *View) Put(origin mem.Mem, target int, disp int64, p Place) error {
	return v.do(putOp(origin, disp, p), target)
}

func (v *View) Get(result mem.Mem, target int, disp int64, p Place) error {
	return v.do(getOp(result, disp, p), target)
}

func (v *View) Accumulate(origin mem.Mem, target int, disp int64, p Place, o op.Op, t op.Type) error {
	return v.do(accumulateOp(origin, mem.Mem{}, disp, p, o, t), target)
}

func (v *View) GetAccumulate(origin, result mem.Mem, target int, disp int64, p Place, o op.Op, t op.Type) error {
	return v.do(accumulateOp(origin, result, disp, p, o, t), target)
}

func (v *View) AccumulateBytes(origin, result []byte, target int, disp int64, o op.Op, t op.Type) error {
	return v.do(accumulateOp(mem.Of(origin), mem.Of(result), disp, Place{}, o, t), target)
}

// FetchAndOp takes the fast path, as package mpi does.
func (v *View) FetchAndOp(value, result []byte, target int, disp int64, o op.Op, t op.Type) error {
	if v.Fetched(value, result, target, disp, o, t) {
		return nil
	}
	return v.AccumulateBytes(value, result, target, disp, o, t)
}

func (v *View) CompareAndSwap(value, compare, result []byte, target int, disp int64, t op.Type) error {
	a := Op{Kind: CompareAndSwap, Elem: t, Origin: mem.Of(value), Compare: compare, Result: mem.Of(result), Disp: disp, Call: call.CompareAndSwap}
	return v.do(&a, target)
}

func (v *View) Rput(origin mem.Mem, target int, disp int64, p Place) (*p2p.Request, error) {
	return v.Do(putOp(origin, disp, p).with(Local, call.Rput), target)
}

func (v *View) Rrput(origin mem.Mem, target int, disp int64, p Place) (*p2p.Request, error) {
	return v.Do(putOp(origin, disp, p).with(Remote, call.Rrput), target)
}

func (v *View) Rget(result mem.Mem, target int, disp int64, p Place) (*p2p.Request, error) {
	return v.Do(getOp(result, disp, p).with(Local, call.Rget), target)
}

func (v *View) Raccumulate(origin mem.Mem, target int, disp int64, p Place, o op.Op, t op.Type) (*p2p.Request, error) {
	return v.Do(accumulateOp(origin, mem.Mem{}, disp, p, o, t).with(Local, call.Raccumulate), target)
}

func (v *View) RgetAccumulate(origin, result mem.Mem, target int, disp int64, p Place, o op.Op, t op.Type) (*p2p.Request, error) {
	return v.Do(accumulateOp(origin, result, disp, p, o, t).with(Local, call.RgetAccumulate), target)
}

// PutPlaceNotify is PutNotify to a place.
func (v *View) PutPlaceNotify(origin mem.Mem, target int, disp int64, p Place, counter int) error {
	o, err := putOp(origin, disp, p).notifies(counter)
	if err != nil {
		return err
	}
	return v.do(o, target)
}

func (v *View) GetNotify(result mem.Mem, target int, disp int64, p Place, counter int) error {
	o, err := getOp(result, disp, p).notifies(counter)
	if err != nil {
		return err
	}
	return v.do(o, target)
}

func (v *View) GetAccumulateNotify(origin, result mem.Mem, target int, disp int64, p Place, o op.Op, t op.Type, counter int) error {
	a, err := accumulateOp(origin, result, disp, p, o, t).notifies(counter)
	if err != nil {
		return err
	}
	return v.do(a, target)
}
