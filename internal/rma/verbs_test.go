package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// The verbs, as tests write them: each is Do of one Op.

// do is Do of an operation without a request.
func (v *View) do(o *operation.Op, target int) error {
	_, err := v.Do(o, target)
	return err
}

func putOp(origin mem.Mem, disp int64, p operation.Place) *operation.Op {
	return &operation.Op{Kind: operation.Put, Origin: origin, Disp: disp, Place: p, Call: call.Put}
}

func getOp(result mem.Mem, disp int64, p operation.Place) *operation.Op {
	return &operation.Op{Kind: operation.Get, Result: result, Disp: disp, Place: p, Call: call.Get}
}

func accumulateOp(origin, result mem.Mem, disp int64, p operation.Place, o op.Op, t op.Type) *operation.Op {
	return &operation.Op{Kind: operation.Accumulate, Fn: o, Elem: t, Origin: origin, Result: result, Disp: disp, Place: p, Call: call.Accumulate}
}

// with is o with a request.
func with(o *operation.Op, d operation.Done, by call.Number) *operation.Op {
	o.Done, o.Call = d, by
	return o
}

// notifies is o with a notification.
func notifies(o *operation.Op, counter int) (*operation.Op, error) {
	var err error
	o.Notify, err = Notification(counter)
	return o, err
}

func (v *View) Put(origin mem.Mem, target int, disp int64, p operation.Place) error {
	return v.do(putOp(origin, disp, p), target)
}

func (v *View) Get(result mem.Mem, target int, disp int64, p operation.Place) error {
	return v.do(getOp(result, disp, p), target)
}

func (v *View) Accumulate(origin mem.Mem, target int, disp int64, p operation.Place, o op.Op, t op.Type) error {
	return v.do(accumulateOp(origin, mem.Mem{}, disp, p, o, t), target)
}

func (v *View) GetAccumulate(origin, result mem.Mem, target int, disp int64, p operation.Place, o op.Op, t op.Type) error {
	return v.do(accumulateOp(origin, result, disp, p, o, t), target)
}

func (v *View) AccumulateBytes(origin, result []byte, target int, disp int64, o op.Op, t op.Type) error {
	return v.do(accumulateOp(mem.Of(origin), mem.Of(result), disp, operation.Place{}, o, t), target)
}

// FetchAndOp takes the fast path, as package mpi does.
func (v *View) FetchAndOp(value, result []byte, target int, disp int64, o op.Op, t op.Type) error {
	if v.Fetched(value, result, target, disp, o, t) {
		return nil
	}
	return v.AccumulateBytes(value, result, target, disp, o, t)
}

func (v *View) CompareAndSwap(value, compare, result []byte, target int, disp int64, t op.Type) error {
	a := operation.Op{Kind: operation.CompareAndSwap, Elem: t, Origin: mem.Of(value), Compare: compare, Result: mem.Of(result), Disp: disp, Call: call.CompareAndSwap}
	return v.do(&a, target)
}

func (v *View) Rput(origin mem.Mem, target int, disp int64, p operation.Place) (*p2p.Request, error) {
	return v.Do(with(putOp(origin, disp, p), operation.Local, call.Rput), target)
}

func (v *View) Rrput(origin mem.Mem, target int, disp int64, p operation.Place) (*p2p.Request, error) {
	return v.Do(with(putOp(origin, disp, p), operation.Remote, call.Rrput), target)
}

func (v *View) Rget(result mem.Mem, target int, disp int64, p operation.Place) (*p2p.Request, error) {
	return v.Do(with(getOp(result, disp, p), operation.Local, call.Rget), target)
}

func (v *View) Raccumulate(origin mem.Mem, target int, disp int64, p operation.Place, o op.Op, t op.Type) (*p2p.Request, error) {
	return v.Do(with(accumulateOp(origin, mem.Mem{}, disp, p, o, t), operation.Local, call.Raccumulate), target)
}

func (v *View) RgetAccumulate(origin, result mem.Mem, target int, disp int64, p operation.Place, o op.Op, t op.Type) (*p2p.Request, error) {
	return v.Do(with(accumulateOp(origin, result, disp, p, o, t), operation.Local, call.RgetAccumulate), target)
}

// PutPlaceNotify is PutNotify to a place.
func (v *View) PutPlaceNotify(origin mem.Mem, target int, disp int64, p operation.Place, counter int) error {
	o, err := notifies(putOp(origin, disp, p), counter)
	if err != nil {
		return err
	}
	return v.do(o, target)
}

func (v *View) GetNotify(result mem.Mem, target int, disp int64, p operation.Place, counter int) error {
	o, err := notifies(getOp(result, disp, p), counter)
	if err != nil {
		return err
	}
	return v.do(o, target)
}

func (v *View) GetAccumulateNotify(origin, result mem.Mem, target int, disp int64, p operation.Place, o op.Op, t op.Type, counter int) error {
	a, err := notifies(accumulateOp(origin, result, disp, p, o, t), counter)
	if err != nil {
		return err
	}
	return v.do(a, target)
}
