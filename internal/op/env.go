package op

import "github.com/halo-mpi/halo/internal/sys"

// Env is a floating-point environment, as far as it changes what sums and products are: the
// direction of rounding, whether subnormal numbers are taken for zeros, and what the x87 has of
// its own. Every value means something, so that whatever a peer sends is harmless: there is no
// bit that enables traps. The zero Env is that of Go, which computes in no other one.
//
// An operation In an Env is one Op with it, so that it travels with the operation in schedules,
// queues and frames, and whoever computes does so as the caller would. Comparisons are
// exact in every environment, by our choice: minima and maxima tell subnormal numbers from zeros.
//
// A thread of Go must not keep a word of the processor that is not Go's: goroutines come and go
// between any two of its instructions but those in assembly. So the word is set inside
// assembly (env_amd64.s, env_arm64.s), or there is none: formats that Go computes in integers
// take the direction as an argument.
type Env uint8

// What an Env is made of. The directions exclude each other.
const (
	RoundDown     Env = 1
	RoundUp       Env = 2
	RoundToZero   Env = 3
	FlushResults  Env = 4 // subnormal results are zeros
	FlushOperands Env = 8 // subnormal operands are

	roundMask    Env = 3
	flushMask    Env = FlushResults | FlushOperands
	x87Round         = 4 // where the x87's direction begins
	x87Precision     = 6 // where its precision begins
	x87Double        = 1 // 53 bits
	x87Single        = 3 // 24 bits; others mean 64
)

// envShift is where in an Op its Env begins.
const envShift = 8

// In is o in an environment, in place of the one it is in.
func (o Op) In(e Env) Op { return o.Bare() | Op(e)<<envShift }

// Bare is o in Go's environment.
func (o Op) Bare() Op { return o & (1<<envShift - 1) }

// Env is the environment of o.
func (o Op) Env() Env { return Env(o >> envShift) }

// On is o on elements of t, without what of its environment makes no difference to them: so that
// operations in Go's environment take their usual way, and those that are alike are equal.
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
	case o != Sum && o != Prod:
		e = 0
	case t == Float32, t == Float64, t == Complex64, t == Complex128:
		e &= roundMask | flushMask
	case t == Float16, t == Complex32, t == Float128, t == Complex256: // nobody flushes these
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
	switch o = o.Bare(); t {
	case Float16, Complex32:
		halfIn(o, t, e, view[uint16](dst), view[uint16](left), view[uint16](right))
	case Float80, Float128, Complex160, Complex256:
		long(o, formatIn(t, e), t, view[[16]byte](dst), view[[16]byte](left), view[[16]byte](right))
	default:
		numbersIn(o, t, e, dst, left, right)
	}
}

// inLane is how many bytes the assembly does at a time.
const inLane = 16

// numbersIn does numbers of the processor. What is no whole lane is done by copies, since behind
// the end is not our memory; in race builds everything is, since the detector does not see
// what assembly does.
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
