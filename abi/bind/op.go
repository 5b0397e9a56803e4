package bind

import (
	"math"
	"runtime"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// createOp is MPI_Op_create, in the large form MPI_Op_create_c.
func (l *Lib) createOp(a args) error {
	if err := l.need(call.OpCreate, a, "op", 2); err != nil {
		return err
	}
	fn := a.word(0)
	if err := l.function(call.OpCreate, fn); err != nil {
		return err
	}
	callback, most := callUser_function, math.MaxInt32
	if a.large {
		callback, most = callUser_function_c, math.MaxInt
	}
	o := mpi.CreateOpFunc(func(in, inout mpi.Buffer) { l.combine(callback, fn, nil, most, in, inout) }, a.int(1) != 0)
	a.setWord(2, l.ops.add(engine.InCalls(o)))
	return nil
}

// createOpExtra is MPIX_Op_create_x.
func (l *Lib) createOpExtra(a args) error {
	if err := l.need(call.OpCreateX, a, "op", 4); err != nil {
		return err
	}
	c, err := l.callback(call.OpCreateX, a.word(0), a.word(1), a.word(3))
	if err != nil {
		return err
	}
	o := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
		l.combine(callUser_function_x, c.function, []uintptr{c.extra}, math.MaxInt, in, inout)
	}, a.int(2) != 0)
	a.setWord(4, l.ops.add(engine.InCalls(o)))
	return nil
}

// combine calls a reduction function of the program for the operands, at most `most` elements
// at a time. extra are the arguments of the function behind the datatype.
func (l *Lib) combine(callback int, fn uintptr, extra []uintptr, most int, in, inout mpi.Buffer) {
	d := inout.Datatype()
	source, target, x, y := l.watchOperands(in, inout)
	l.types.lend(d, func(h handle) {
		for left := inout.Len(); left > 0; {
			n := min(left, most)
			l.hooks.Invoke(callback, fn, append([]uintptr{x, y, uintptr(n), h}, extra...))
			x, y, left = at(x, n, d), at(y, n, d), left-n
		}
	})
	source.end(l)
	target.end(l)
	runtime.KeepAlive(in)
	runtime.KeepAlive(inout)
}

// watchOperands returns the memory of operands for a function of the program, and the addresses of displacement 0 of
// their first elements.
func (l *Lib) watchOperands(in, inout mpi.Buffer) (source, target watched, x, y uintptr) {
	from, at := mpi.MemoryOf[byte](in)
	to, behind := mpi.MemoryOf[byte](inout)
	source, target = l.watch(from), l.watch(to)
	return source, target, source.address() + uintptr(at), target.address() + uintptr(behind)
}

// freeOp is MPI_Op_free.
func (l *Lib) freeOp(a args) error {
	const by = call.OpFree
	l.destructors.flush(false)
	return free(l, a, by, opNull, func(h handle, by call.Number) (mpi.Op, error) {
		o := l.op(h)
		if o.IsNull() && h != opNull {
			return o, l.fail(mpi.ErrOp, by, "%#x is no operation: it was freed, or never was one", h)
		}
		return o, nil
	}, func(o mpi.Op) error { return o.Free() }, l.ops.remove)
}

// commutative is MPI_Op_commutative.
func (l *Lib) commutative(o mpi.Op) (bool, error) {
	if o.IsNull() {
		return false, l.fail(mpi.ErrOp, call.OpCommutative, "operation is null, was freed, or never was one")
	}
	return o.Commutative(), nil
}
