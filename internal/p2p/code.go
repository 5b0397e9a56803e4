package p2p

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// The envelope of a message tells what its elements are, by a dtype.Code in the lowest byte
// of Aux. The receiver compares it with what it receives as where the two meet: if they differ
// the message is received as far as it fits, with ErrType, and the sender does not hear of it,
// as in checking mode, where claims take its place.
//
// Messages of collectives also tell their roots, in the next two bytes, and if they are empty
// because of an error, in the highest byte what their elements would have been.

// TypesDiffer and RootsDiffer take the place of the elements of a message without any: the
// sender has found that members of a collective disagree, and has nothing to pass on.
const (
	TypesDiffer dtype.Code = 0xff
	RootsDiffer dtype.Code = 0xfe
)

// More stands in the highest byte of a message with elements that is not the last one of several
// which are one transfer. It is the code of nothing.
const More dtype.Code = 1

// More reports whether what r has received said that there is more to come.
func (r *Request) More() bool { return ownOf(r.told) == More }

// Last reports whether the receive r is that of the last message of a transfer.
func (r *Request) Last() bool { return ownOf(r.aux) != More }

// aux is what v tells.
func (v *Envelope) aux() uint32 { return uint32(v.Code) | uint32(v.Roots)<<8 | uint32(v.Own)<<24 }

func codeOf(aux uint32) dtype.Code { return dtype.Code(aux) }
func rootsOf(aux uint32) uint16    { return uint16(aux >> 8) }
func ownOf(aux uint32) dtype.Code  { return dtype.Code(aux >> 24) }

// OtherRoots is the error of a receive from a rank that tells other roots.
type OtherRoots struct {
	Source int
	Roots  uint16
}

// Error implements error.
func (o *OtherRoots) Error() string { return fmt.Sprintf("rank %d has named another root", o.Source) }

// judge gives r, whose envelope is known, an error if the message, of so many bytes, tells
// something else than r expects.
func (r *Request) judge(aux uint32, bytes uint64) {
	if r.told = aux; aux != r.aux {
		r.disagree(aux, bytes)
	}
}

func (r *Request) disagree(aux uint32, bytes uint64) {
	code, own, from := codeOf(aux), codeOf(r.aux), r.Status.Source
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
		// In a collective the members must agree on types first, and on lengths by those.
		r.Status.Err = mistyped(from, code, bytes, r.comm.Rank, own, r.size())
	case r.Status.Err != nil:
	case bytes > 0 && code.Differs(own):
		r.Status.Err = mistyped(from, code, bytes, r.comm.Rank, own, r.size())
	case code == RootsDiffer && bytes == 0:
		r.Status.Err = &class.Error{Class: class.Root, Text: fmt.Sprintf("rank %d has found that members name different roots", from)}
	case bytes > 0 || r.size() == 0:
	case code == TypesDiffer && ownOf(aux).Differs(own):
		r.Status.Err = mistyped(from, ownOf(aux), uint64(r.size()), r.comm.Rank, own, r.size())
	case code == TypesDiffer:
		r.Status.Err = &class.Error{Class: class.Type, Text: fmt.Sprintf("rank %d sends nothing, as it has found that members have elements of different types", from)}
	}
}

// mistyped is the error of a message from a rank whose elements are not what is received.
func mistyped(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) error {
	return &class.Error{Class: class.Type, Text: bothTypes(source, sent, bytes, rank, received, room)}
}

// truncatedOther is that of one that is also too long: of the two classes that is MPI_ERR_TRUNCATE.
func truncatedOther(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) error {
	return &class.Error{Class: class.Truncate, Text: truncation(bytes, room) + ": " + bothTypes(source, sent, bytes, rank, received, room)}
}

func bothTypes(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) string {
	return fmt.Sprintf("rank %d sends %s, rank %d receives %s", source, sent.Describe(int64(bytes)), rank, received.Describe(int64(room)))
}
