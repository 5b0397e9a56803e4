package mpi

import "github.com/halo-mpi/halo/internal/op"

// In is the operation o in a floating-point environment, whoever carries it out: this process, another
// one, or a target of one-sided communication. A collective in which all members name the
// same environment gives the same bits in all of them. Only sums and products of floating-point
// and complex numbers depend on it; comparisons, such as in Min and Minloc, tell subnormal numbers
// from zeros in every environment. Operations of programs run in Go's own, or C's.
//
// A nonblocking collective keeps the environment that it was started in, a persistent one that
// it was made in.
//
// C: none; there operations are done in the environment that the call is made in.
func (internals) In(o Op, e op.Env) Op {
	if b := o.kernel.Bare(); b == op.Sum || b == op.Prod {
		o.kernel = b.In(e)
	}
	return o
}
