package serve

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// Epoch is the operation of a WinEpoch, of kind 0 if there is none.
type Epoch struct {
	h       wire.Header // of a frame of its own
	op      op.Op
	typ     op.Type
	data    []byte
	size    int64 // bytes of the window
	fetched int   // bytes of previous values that are wanted
}

// ReadEpoch reads the operation of a WinEpoch. It reports false for what no correct process
// sends.
func ReadEpoch(h *wire.Header, data []byte) (x Epoch, ok bool) {
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
		return x, x.size > 0 && x.size <= link.ShortMax && !fetches
	case wire.WinGet:
		x.size = epochLength(data)
		x.fetched = int(x.size)
		return x, x.size > 0 && fetches
	case wire.WinCas:
		x.typ, ok = operation.ParseCompare(h.Aux)
		x.size = int64(x.typ.Size())
		x.fetched = int(x.size)
		return x, ok && x.size > 0 && x.size <= 16 && int64(len(data)) == 2*x.size && fetches
	case wire.WinAcc:
		x.op, x.typ, ok = operation.ParseAccumulate(h.Aux)
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
		return x, x.size > 0 && x.size <= link.ShortMax && x.size%width == 0
	}
	return x, false
}

// epochLength reads how many bytes an epoch asks for, 0 if that is not valid.
func epochLength(data []byte) int64 {
	if len(data) != 8 {
		return 0
	}
	if n := binary.LittleEndian.Uint64(data); n <= link.ShortMax {
		return int64(n)
	}
	return 0
}

// EpochAnswer is what Run has done, and Answer sends.
type EpochAnswer struct {
	to    *reply
	old   []byte
	fault *operation.Fault
}

// Run carries out the operation of an epoch whose origin has the lock.
func (s *Server) Run(w *Window, x *Epoch) EpochAnswer {
	to := s.newReply()
	old := to.room(x.fetched)
	return EpochAnswer{to, old, x.apply(w, old)}
}

// Answer answers an epoch.
func (s *Server) Answer(from int, w *Window, h *wire.Header, a EpochAnswer) {
	if a.fault != nil {
		a.to.drop()
		s.sendDone(from, w.ID, 0, h.Name, a.fault)
		return
	}
	s.hdr = wire.Header{Kind: wire.WinDone, Ctx: w.ID, Arg: h.Name}
	s.give(from, a.to, a.old)
}

// apply carries out the operation on the own memory, and stores in old the previous values that are
// wanted. It returns the fault if it cannot.
func (x *Epoch) apply(w *Window, old []byte) *operation.Fault {
	if x.h.Kind == 0 {
		return nil
	}
	r, at, err := w.Place(x.h.Arg, x.size)
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
