package rma

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/lock"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Epochs in one frame, the target's side
//
// A WinEpoch asks for the lock like a WinLock and takes its place in the queue of lock.Service. If
// it has the lock at once, its operation is carried out, the lock is released, and one frame
// answers. Otherwise the operation is dropped and the request waits like others: an origin cannot
// make this process keep more than a request.

// takeEpoch takes a WinEpoch. It reports false if no correct process can have sent it.
func (e *Engine) takeEpoch(from int, w *Window, h *wire.Header, data []byte) bool {
	x, ok := readEpoch(h, data)
	if !ok {
		return false
	}
	if !e.admits(from) {
		return true
	}
	process := int32(from)
	if !w.queueLock(lock.Request{Process: process, Exclusive: h.Flags&wire.Exclusive != 0, Quiet: true}) {
		return false
	}
	if w.service.Speak(process) { // a WinGrant will answer it
		if planted.EpochUnheld {
			x.apply(w, make([]byte, x.fetched))
		}
		return true
	}
	if !w.service.Holds(process) {
		return true // it was told that a holder has died
	}
	to := e.newReply()
	old := to.room(x.fetched)
	f := x.apply(w, old)
	w.unlockAsked(process)
	if f != nil {
		to.drop()
		e.sendDone(from, w.id, 0, h.Name, f)
		return true
	}
	e.hdr = wire.Header{Kind: wire.WinDone, Ctx: w.id, Arg: h.Name}
	e.give(from, to, old)
	return true
}

// epochOperation is the operation of a WinEpoch, of kind 0 if there is none.
type epochOperation struct {
	h       wire.Header // of a frame of its own
	op      op.Op
	typ     op.Type
	data    []byte
	size    int64 // bytes of the window
	fetched int   // bytes of previous values that are wanted
}

// readEpoch reads the operation of a WinEpoch. It reports false for what no correct process
// sends.
func readEpoch(h *wire.Header, data []byte) (x epochOperation, ok bool) {
	fetches := h.Flags&wire.Fetches != 0
	if h.Flags&^(wire.Exclusive|wire.Fetches) != 0 || h.Chan != 0 || h.Tag < 0 || h.Tag > int32(wire.WinCas) {
		return x, false
	}
	x.h = wire.Header{Kind: wire.Kind(h.Tag), Ctx: h.Ctx, Aux: h.Aux, Arg: h.Arg}
	x.data, x.size = data, int64(len(data))
	switch x.h.Kind {
	case 0:
		return x, x.size == 0 && !fetches
	case wire.WinPut:
		return x, x.size > 0 && x.size <= bundledMax && !fetches
	case wire.WinGet:
		x.size = epochLength(data)
		x.fetched = int(x.size)
		return x, x.size > 0 && fetches
	case wire.WinCas:
		x.typ = op.Type(h.Aux >> accType)
		x.size = int64(x.typ.Size())
		x.fetched = int(x.size)
		return x, h.Aux>>accEnv == 0 && h.Aux&(1<<accType-1) == 0 && x.size > 0 && x.size <= 16 && int64(len(data)) == 2*x.size && fetches
	case wire.WinAcc:
		x.op, x.typ, ok = accumulated(h.Aux)
		width := int64(x.typ.Size())
		if !ok || width == 0 || op.CheckAccumulate(x.op, x.typ) != nil || x.op == op.NoOp && !fetches {
			return x, false
		}
		if x.op == op.NoOp {
			x.size, x.data = epochLength(data), nil
		}
		if fetches {
			x.fetched = int(x.size)
		}
		return x, x.size > 0 && x.size <= bundledMax && x.size%width == 0
	}
	return x, false
}

// epochLength reads how many bytes an epoch asks for, 0 if that is not valid.
func epochLength(data []byte) int64 {
	if len(data) != 8 {
		return 0
	}
	if n := binary.LittleEndian.Uint64(data); n <= bundledMax {
		return int64(n)
	}
	return 0
}

// apply carries out the operation on the own memory, and stores in old the previous values that are
// wanted. It returns the fault if it cannot.
func (x *epochOperation) apply(w *Window, old []byte) *fault {
	if x.h.Kind == 0 {
		return nil
	}
	r, at, err := w.place(x.h.Arg, x.size)
	if err != nil {
		return w.fault(&x.h, uint64(x.size), err)
	}
	switch x.h.Kind {
	case wire.WinPut:
		r.Put(at, x.data)
	case wire.WinGet:
		r.Get(at, old)
	case wire.WinCas:
		n := len(x.data) / 2
		r.CompareSwap(at, n, x.data[n:], x.data[:n], old)
	case wire.WinAcc:
		switch {
		case x.fetched == 0:
			r.Accumulate(at, x.op, x.typ, x.data, nil)
		case x.size == int64(x.typ.Size()):
			r.FetchOp(at, x.op, x.typ, x.data, old)
		default:
			r.Accumulate(at, x.op, x.typ, x.data, old)
		}
	}
	return nil
}
