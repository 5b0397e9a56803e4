package op

import (
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// Env is the part of a floating-point environment that affects sums and products: the direction
// of rounding, whether subnormal numbers are taken for zeros, and the x87's own settings. Every
// value is valid and none enables traps, so that an Env from a peer does no harm. The zero Env
// is Go's environment, the only one in which Go code computes.
//
// An operation In an Env is one Op that includes the Env. So the Env travels with the operation
// in schedules, queues and frames, and any process computes the result as the caller would.
// Comparisons are exact in every environment, by our choice: minima and maxima distinguish
// subnormal numbers from zeros.
//
// A thread that runs Go code must not have a control word other than Go's, since the scheduler
// may switch goroutines at any instruction outside of assembly. So the word is set within
// assembly (env_amd64.s, env_arm64.s), or not at all: formats that Go computes in integers take
// the direction as an argument.
type Env uint8

// The bits of an Env. The directions exclude each other.
const (
	RoundDown     Env = 1
	RoundUp       Env = 2
	RoundToZero   Env = 3
	FlushResults  Env = 4 // subnormal results are zeros
	FlushOperands Env = 8 // subnormal operands are taken for zeros

	roundMask    Env = 3
	flushMask    Env = FlushResults | FlushOperands
	x87Round         = 4 // the first bit of the x87's direction
	x87Precision     = 6 // the first bit of the x87's precision
	x87Double        = 1 // 53 bits
	x87Single        = 3 // 24 bits; other values mean 64
)

// AllOnes is the only bit of an Env that affects logical operations, on the logicals of Fortran: true
// is the number with all bits set, as some compilers have it, and not 1. Such logicals have 2 bytes or
// more, since C's bool has the type of those with one.
const AllOnes Env = 1

// envShift is the first bit of the Env in an Op.
const envShift = 8

// In returns o in environment e, which replaces that of o.
func (o Op) In(e Env) Op { return o.Bare() | Op(e)<<envShift }

// Bare returns o in Go's environment.
func (o Op) Bare() Op { return o & (1<<envShift - 1) }

// Env returns the environment of o.
func (o Op) Env() Env { return Env(o >> envShift) }

// On returns o without the parts of its environment that have no effect on elements of t. So an
// operation that gives the same as in Go's environment takes its usual path, and operations with
// the same results are equal.
func (o Op) On(t Type) Op {
	if o <= NoOp {
		return o
	}
	return o.on(t)
}

func (o Op) on(t Type) Op {
	e := o.Env()
	o = o.Bare()
	switch {
	case o == Land || o == Lor || o == Lxor:
		e &= AllOnes
		if t.group() != logicals || t == Bool || planted.TrueIsOne {
			e = 0
		}
	case o != Sum && o != Prod:
		e = 0
	case t == Float32, t == Float64, t == Complex64, t == Complex128:
		e &= roundMask | flushMask
	case t == Float16, t == Complex32, t == Float128, t == Complex256: // not flushed
		e &= roundMask
	case t == Float80, t == Complex160:
		e &^= roundMask | flushMask
	default:
		e = 0
	}
	return o.In(e)
}

// applyIn is Apply in an environment.
func applyIn(o Op, t Type, dst, left, right []byte) {
	o = o.On(t)
	e := o.Env()
	if e == 0 {
		Apply(o, t, dst, left, right)
		return
	}
	o = o.Bare()
	switch t {
	case Bool16, Bool32, Bool64, Bool128: // all bits are equal
		Apply(bitwise(o), Byte, dst, left, right)
	case Float16, Complex32:
		halfIn(o, t, e, view[uint16](dst), view[uint16](left), view[uint16](right))
	case Float80, Float128, Complex160, Complex256:
		long(o, formatIn(t, e), t, view[[16]byte](dst), view[[16]byte](left), view[[16]byte](right))
	default:
		numbersIn(o, t, e, dst, left, right)
	}
}

// bitwise returns the operation on bits that is o on each bit of logicals.
func bitwise(o Op) Op {
	switch o {
	case Land:
		return Band
	case Lor:
		return Bor
	}
	return Bxor
}

// inLane is the number of bytes that the assembly processes at a time.
const inLane = 16

// numbersIn computes formats of the processor. A part that is no whole lane is computed in
// copies, since the memory after its end may not be read or written. In race builds all elements
// are, since the detector does not see the accesses of assembly.
func numbersIn(o Op, t Type, e Env, dst, left, right []byte) {
	word := e.word()
	n := len(dst) &^ (inLane - 1)
	if sys.Race {
		n = 0
	}
	if n > 0 {
		lanesIn(o, t, &dst[0], &left[0], &right[0], n, word)
		dst, left, right = dst[n:], left[n:], right[n:]
	}
	for len(dst) > 0 {
		var x, y [inLane]byte
		n := copy(x[:], left)
		copy(y[:], right)
		lanesIn(o, t, &x[0], &x[0], &y[0], inLane, word)
		copy(dst, x[:n])
		dst, left, right = dst[n:], left[n:], right[n:]
	}
}
