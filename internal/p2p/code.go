package p2p

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Aux in the envelope of a message describes its elements: the lowest byte is their
// dtype.Code. The receiver compares it with the code of the receive when the two match. If
// they differ, the message is received as far as it fits, with ErrType, and the sender gets
// no error. In checking mode claims replace the code.
//
// In messages of collectives the next two bytes say which roots the sender has named. The
// highest byte of an empty message that reports an error is the code that the elements would
// have had.

// TypesDiffer and RootsDiffer are codes of empty messages: the sender has found that members
// of a collective disagree, and has nothing to pass on.
const (
	TypesDiffer dtype.Code = 0xff
	RootsDiffer dtype.Code = 0xfe
)

// More is the highest byte of every message but the last, where a transfer is several messages
// with elements. It is the code of no type.
const More dtype.Code = 1

// More reports whether another message of the same transfer follows the one that r received.
func (r *Request) More() bool { return ownOf(r.receivedAux) == More }

// Last reports whether the receive r is for the last message of a transfer.
func (r *Request) Last() bool { return ownOf(r.aux) != More }

// aux returns Aux for an envelope.
func (v *Envelope) aux() uint32 { return uint32(v.Code) | uint32(v.Roots)<<8 | uint32(v.Own)<<24 }

func codeOf(aux uint32) dtype.Code { return dtype.Code(aux) }
func rootsOf(aux uint32) uint16    { return uint16(aux >> 8) }
func ownOf(aux uint32) dtype.Code  { return dtype.Code(aux >> 24) }

// OtherRoots is the error of a receive from a rank that has named other roots.
type OtherRoots struct {
	Source int
	Roots  uint16
}

// Error implements error.
func (o *OtherRoots) Error() string { return fmt.Sprintf("rank %d has named another root", o.Source) }

// compareAux sets the error of r, whose envelope is known, if a message with aux and so many
// bytes is not what r expects.
func (r *Request) compareAux(aux uint32, bytes uint64) {
	r.receivedAux = aux
	if aux != r.aux {
		r.auxMismatch(aux, bytes)
	}
}

func (r *Request) auxMismatch(aux uint32, bytes uint64) {
	code, own, from := codeOf(aux), codeOf(r.aux), r.Status.Source
	if refuses(code) && bytes == 0 && r.ctx != r.comm.Ctx {
		r.Status.Err = refusalOf(aux)
		return
	}
	if a, b := rootsOf(aux), rootsOf(r.aux); a != b && a != 0 && b != 0 {
		r.Status.Err = &OtherRoots{from, a}
		return
	}
	switch {
	case from >= 0 && bytes > uint64(r.size()) && code.Differs(own):
		if r.ctx == r.comm.Ctx {
			r.Status.Err = truncatedOther(from, code, bytes, r.comm.Rank, own, r.size())
			return
		}
		// In a collective different types are the cause, and different lengths the effect.
		r.Status.Err = mistyped(from, code, bytes, r.comm.Rank, own, r.size())
	case r.Status.Err != nil:
	case bytes > 0 && code.Differs(own):
		r.Status.Err = mistyped(from, code, bytes, r.comm.Rank, own, r.size())
	case code == RootsDiffer && bytes == 0:
		r.Status.Err = class.Errorf(class.Root, "rank %d has found that members name different roots", from)
	case bytes > 0 || r.size() == 0:
	case code == TypesDiffer && ownOf(aux).Differs(own):
		r.Status.Err = mistyped(from, ownOf(aux), uint64(r.size()), r.comm.Rank, own, r.size())
	case code == TypesDiffer:
		r.Status.Err = class.Errorf(class.Type, "rank %d sends nothing, as it has found that members have elements of different types", from)
	}
}

// mistyped is the error of a message whose elements are not those of the receive.
func mistyped(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) error {
	return &class.Error{Class: class.Type, Text: bothTypes(source, sent, bytes, rank, received, room)}
}

// truncatedOther is the error of a message that is also too long: the class is MPI_ERR_TRUNCATE.
func truncatedOther(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) error {
	return &class.Error{Class: class.Truncate, Text: truncation(bytes, room) + ": " + bothTypes(source, sent, bytes, rank, received, room)}
}

func bothTypes(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) string {
	return fmt.Sprintf("rank %d sends %s, rank %d receives %s", source, sent.Describe(int64(bytes)), rank, received.Describe(int64(room)))
}
