package operation

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/wire"
)

// Fault is the report of a target that it has refused a frame. It travels as
//
//	off uint64 | size uint64 | limit uint64
//
// with the class in Aux and the kind of the frame in Tag. The origin makes the text of the error:
// it trusts no text of a peer.
type Fault struct {
	Class class.Class
	Kind  wire.Kind
	Off   uint64 // displacement in bytes, or address
	Size  uint64 // bytes
	Limit uint64 // of the target's memory, in bytes; in dynamic windows the first address that is not attached, 0: unknown
}

// FaultSize is the size of a fault on the wire in bytes.
const FaultSize = 24

// Encode writes f to b and h.
func (f *Fault) Encode(h *wire.Header, b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, f.Off)
	le.PutUint64(b[8:], f.Size)
	le.PutUint64(b[16:], f.Limit)
	h.Aux, h.Tag, h.Size = uint32(f.Class), int32(f.Kind), FaultSize
}

// DecodeFault reads what Encode wrote. It reports false for what Encode never writes.
func DecodeFault(h *wire.Header, b []byte) (f Fault, ok bool) {
	if len(b) != FaultSize || h.Tag < int32(wire.WinPut) || h.Tag > int32(wire.WinNotify) {
		return f, false
	}
	le := binary.LittleEndian
	f = Fault{class.Class(h.Aux), wire.Kind(h.Tag), le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])}
	return f, f.Class == class.RMARange || f.Class == class.RMAAttach || f.Class == class.Win
}

// Err is the fault as an error at the origin, of an operation on a window, which is dynamic or not, with a rank.
func (f *Fault) Err(dynamic bool, rank int) error {
	what := "synchronization"
	switch f.Kind {
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
	case f.Class == class.Win:
		return class.Errorf(f.Class, "%s: rank %d has no such window any more", what, rank)
	case dynamic && f.Off >= memhandle.Space:
		return class.Errorf(f.Class, "%s of %d bytes by a memory handle of rank %d: the handle has been released there, or was never made", what, f.Size, rank)
	case dynamic && f.Limit > f.Off && f.Limit-f.Off < f.Size:
		return class.Errorf(f.Class, "%s of %d bytes at address %#x of rank %d: %d of them are attached there, nothing is at %#x", what, f.Size, f.Off, rank, f.Limit-f.Off, f.Limit)
	case dynamic:
		return class.Errorf(f.Class, "%s of %d bytes at address %#x of rank %d: that memory is not attached there", what, f.Size, f.Off, rank)
	}
	return class.Errorf(f.Class, "%s of %d bytes at byte %d of rank %d, whose memory has %d bytes", what, f.Size, f.Off, rank, f.Limit)
}
