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

// InLogicals is the operation o for programs in which Fortran's true has all bits set, and false none.
// Only the logical operations on Fortran's logicals of 2 bytes and more depend on it: elements are
// such values, and results are, too. All members of a collective, and all processes of a window,
// must agree.
//
// C: MPI_Abi_set_fortran_booleans, section 20.4.
func (internals) InLogicals(o Op) Op {
	switch o.kernel.Bare() {
	case op.Land, op.Lor, op.Lxor:
		o.kernel = o.kernel.In(op.AllOnes)
	}
	return o
}
