package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Envelope is what a message is matched by, and the description of its elements. The envelope
// of a receive is what messages are compared with. A call that takes an Envelope does not keep
// it.
type Envelope struct {
	Comm *comm.Comm
	Ctx  uint64 // one of the contexts of Comm
	Peer int    // rank that the message goes to or comes from
	Tag  int32
	Mode Mode // of a send

	Code  dtype.Code // of the elements
	Own   dtype.Code // More; or the code of the elements, where Code is a reason to send none
	Roots uint16     // digest of the roots that the sender has named on the communicator; 0: not compared

	Guarded bool        // in checking mode: the program gets the request, and must not use the memory until it is complete
	Type    *dtype.Type // of the elements, in checking mode; nil if it is not known
	Count   int64       // of the elements of Type
}

// describe copies the description of the elements from v to r. In checking mode claims replace
// the code in the envelope.
func (e *Engine) describe(r *Request, v *Envelope) {
	if e.checkers != nil {
		r.checked = &checked{guarded: v.Guarded}
		if v.Ctx == v.Comm.Ctx { // a message of the program
			r.checked.at = e.locator.Current()
		}
	}
	switch {
	case e.checkers == nil || refuses(v.Code):
		r.aux = v.aux()
	case v.Own == More:
		r.checked.typ, r.checked.count, r.aux = v.Type, v.Count, uint32(More)<<24
	default:
		r.checked.typ, r.checked.count = v.Type, v.Count
	}
}
