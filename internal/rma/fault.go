package rma

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/wire"
)

// fault is the report of a target that it has refused a frame. It travels as
//
//	off uint64 | size uint64 | limit uint64
//
// with the class in Aux and the kind of the frame in Tag. The origin makes the text of the error:
// it trusts no text of a peer.
type fault struct {
	class class.Class
	kind  wire.Kind
	off   uint64 // displacement in bytes, or address
	size  uint64 // bytes
	limit uint64 // of the target's memory, in bytes; in dynamic windows the first address that is not attached, 0: unknown
}

// faultSize is the size of a fault on the wire in bytes.
const faultSize = 24

// encode writes f to b and h.
func (f *fault) encode(h *wire.Header, b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, f.off)
	le.PutUint64(b[8:], f.size)
	le.PutUint64(b[16:], f.limit)
	h.Aux, h.Tag, h.Size = uint32(f.class), int32(f.kind), faultSize
}

// decodeFault reads what encode wrote. It reports false for what encode never writes.
func decodeFault(h *wire.Header, b []byte) (f fault, ok bool) {
	if len(b) != faultSize || h.Tag < int32(wire.WinPut) || h.Tag > int32(wire.WinNotify) {
		return f, false
	}
	le := binary.LittleEndian
	f = fault{class.Class(h.Aux), wire.Kind(h.Tag), le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])}
	return f, f.class == class.RMARange || f.class == class.RMAAttach || f.class == class.Win
}

// error is the fault as an error of the origin.
func (f *fault) error(w *Window, rank int) error {
	what := "synchronization"
	switch f.kind {
	case wire.WinPut:
		what = "put"
	case wire.WinGet:
		what = "get"
	case wire.WinAcc:
		what = "accumulate"
	case wire.WinCas:
		what = "compare-and-swap"
	}
	switch {
	case f.class == class.Win:
		return class.Errorf(f.class, "%s: rank %d has no such window any more", what, rank)
	case w.dynamic != nil && f.off >= memhandle.Space:
		return class.Errorf(f.class, "%s of %d bytes by a memory handle of rank %d: the handle has been released there, or was never made", what, f.size, rank)
	case w.dynamic != nil && f.limit > f.off && f.limit-f.off < f.size:
		return class.Errorf(f.class, "%s of %d bytes at address %#x of rank %d: %d of them are attached there, nothing is at %#x", what, f.size, f.off, rank, f.limit-f.off, f.limit)
	case w.dynamic != nil:
		return class.Errorf(f.class, "%s of %d bytes at address %#x of rank %d: that memory is not attached there", what, f.size, f.off, rank)
	}
	return class.Errorf(f.class, "%s of %d bytes at byte %d of rank %d, whose memory has %d bytes", what, f.size, f.off, rank, f.limit)
}
