package mpi

import "github.com/halo-mpi/halo/internal/op"

// In is the operation o in a given floating-point environment, wherever it is carried out: in
// this process, in another one, or at a target of one-sided communication. A collective in which
// all members pass the same environment has the same bits as result at all of them. Only sums
// and products of floating-point and complex numbers depend on it; comparisons, as in Min and
// Minloc, distinguish subnormal numbers from zeros in every environment. User-defined operations
// run in the environment of Go or C.
//
// A nonblocking collective uses the environment that was passed when it was started, and a
// persistent one that when it was made.
//
// C: none; there operations are done in the environment that the call is made in.
func (internals) In(o Op, e op.Env) Op {
	if b := o.kernel.Bare(); b == op.Sum || b == op.Prod {
		o.kernel = b.In(e)
	}
	return o
}
