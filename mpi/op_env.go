package mpi

import "github.com/halo-mpi/halo/internal/op"

// FloatEnv is a floating-point environment, as far as it changes what sums and products are:
// the direction of rounding, and whether subnormal numbers are taken for zeros. It is a
// direction, or none, and any of the others, joined by |. The zero FloatEnv is that of Go:
// to the nearest, with subnormal numbers.
//
// C: none; MPI computes in the environment of C's fenv.h, and of the compiler's -ffast-math.
type FloatEnv uint8

// What a FloatEnv is made of: a direction of rounding, FlushResults and FlushOperands, which take
// subnormal results and operands for zeros, on arm64 each of them both; and what the x87 has, which on
// amd64 computes with MPI_LONG_DOUBLE: a direction of its own, and 53 or 24 bits in place of 64.
// The x87's are of use to bindings only.
//
// C: none; fenv.h has FE_DOWNWARD, FE_UPWARD and FE_TOWARDZERO, the others have no names there.
const (
	RoundDown     = FloatEnv(op.RoundDown)
	RoundUp       = FloatEnv(op.RoundUp)
	RoundToZero   = FloatEnv(op.RoundToZero)
	FlushResults  = FloatEnv(op.FlushResults)
	FlushOperands = FloatEnv(op.FlushOperands)
	X87Down       = RoundDown << 4
	X87Up         = RoundUp << 4
	X87ToZero     = RoundToZero << 4
	X87Double     = FloatEnv(1) << 6
	X87Single     = FloatEnv(3) << 6
)

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
func (o Op) In(e FloatEnv) Op {
	if b := o.kernel.Bare(); b == op.Sum || b == op.Prod {
		o.kernel = b.In(op.Env(e))
	}
	return o
}
