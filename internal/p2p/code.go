package p2p

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

// The envelope of a message tells what its elements are, by a dtype.Code in the lowest byte
// of Aux. The receiver compares it with what it receives as where the two meet: if they differ
// the message is received as far as it fits, with ErrType, and the sender does not hear of it,
// as in checking mode, where claims take its place.

// codeOf is what the elements of the message are of which h is the envelope.
func codeOf(h *wire.Header) dtype.Code { return dtype.Code(h.Aux) }

// judge gives r, whose envelope is known, an error if the elements of the message, of so many
// bytes, are not what r receives.
func (r *Request) judge(code dtype.Code, bytes uint64) {
	if code.Differs(r.code) && bytes > 0 && r.Status.Err == nil {
		r.Status.Err = mistyped(r.Status.Source, code, bytes, r.comm.Rank, r.code, r.size())
	}
}

// mistyped is the error of a message from a rank whose elements are not what is received.
func mistyped(source int, sent dtype.Code, bytes uint64, rank int, received dtype.Code, room int) error {
	return &class.Error{Class: class.Type, Text: fmt.Sprintf("rank %d sends %s, rank %d receives %s",
		source, sent.Describe(int64(bytes)), rank, received.Describe(int64(room)))}
}
