package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Envelope is what a message is matched by, and what it tells about its elements. Of a receive
// it is what the message is compared with. Calls that take one keep nothing of it.
type Envelope struct {
	Comm *comm.Comm
	Ctx  uint64 // one of the contexts of Comm
	Peer int    // rank that the message goes to or comes from
	Tag  int32
	Mode Mode // of a send

	Code  dtype.Code // of the elements
	Own   dtype.Code // beside a Code that says why nothing is sent: what would have been; or More
	Roots uint16     // what a message of a collective says about the roots of its communicator; 0 is nothing

	Type  *dtype.Type // of the elements, in checking mode; nil if it is not known
	Count int64       // of the elements of Type
}

// describe gives r what v tells. In checking mode claims say more than the envelope of a frame.
func (e *Engine) describe(r *Request, v *Envelope) {
	switch {
	case e.checkers == nil:
		r.aux = v.aux()
	case v.Own == More:
		r.typ, r.count, r.aux = v.Type, v.Count, uint32(More)<<24
	default:
		r.typ, r.count = v.Type, v.Count
	}
}
