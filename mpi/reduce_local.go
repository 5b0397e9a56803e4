package mpi

import (
	"errors"
	"os"
	"reflect"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// ReduceLocal sets each inout[i] to the combination of in[i] and inout[i], in this order,
// without communication. inout is at least as long as in, and the two share no memory: there is
// no in-place form. ErrOther if a user-defined operation panics; then the contents of inout are
// undefined.
//
// C: MPI_Reduce_local, section 6.9.9.
func ReduceLocal[T Elem](in, inout []T, op Op) error {
	if t := plain[T](); t != 0 && op.user == nil && len(in) > 0 && len(in) <= len(inout) {
		x, y, n := (*byte)(unsafe.Pointer(&in[0])), (*byte)(unsafe.Pointer(&inout[0])), len(in)*sizeOf[T]()
		ahead := uintptr(unsafe.Pointer(y)) - uintptr(unsafe.Pointer(x)) // wraps around if y is before x
		if ahead >= uintptr(n) && -ahead >= uintptr(n) && localKernel.Whole(op.kernel.On(t), t, y, x, y, n) {
			return nil
		}
	}
	return reduceLocal(in, inout, op)
}

// reduceLocal is ReduceLocal of any elements by any operation. It is a function of its own since its
// frame and its calls take a third of the time of a sum of 64 bytes.
func reduceLocal[T Elem](in, inout []T, op Op) error {
	const by = call.ReduceLocal
	if len(inout) < len(in) {
		return fail(ErrCount, by, nil, "inout slice has %d elements, want %d", len(inout), len(in))
	}
	left, right := memory(in), memory(inout[:len(in)])
	if mem.Overlap(left, right) {
		return fail(ErrBuffer, by, nil, "the two slices share memory: this call has no in-place form")
	}
	if op.user != nil && op.user.Of == nil { // made by CreateOpFunc: fn needs the datatype
		return op.ReduceLocal(Buf(in), Buf(inout))
	}
	typ := opType[T]()
	if op.user != nil && typ != handleType {
		if err := op.applyUser(left, right, reflect.TypeFor[T]()); err != nil {
			return failLocal(err, by)
		}
		return nil
	}
	if err := op.apply(left, right, typ); err != nil {
		return failLocal(err, by)
	}
	return nil
}

// localKernel is the kernel of operations that belong to no communicator. The kernel of
// collectives is chosen when a process is opened, by the same environment variable.
var localKernel, errLocalKernel = op.ParseKernel(os.Getenv(op.KernelEnv))

// Kernel is the address of a function of vector instructions that combines elements of a
// predefined datatype by a predefined operation, as ReduceLocal and one-sided communication do.
// It exists for bindings for other languages, whose compiled code then combines elements itself;
// internal/op describes the arguments. It is 0 if there is no such function, or if such code
// cannot call it.
//
// C: none; MPI_Reduce_local, MPI_Accumulate and MPI_Get_accumulate call them.
func (internals) Kernel(o Op, d Datatype) uintptr {
	if t, err := d.engine(); err == nil {
		if typ := o.kernel.Reduces(t); typ != 0 {
			return localKernel.Function(o.kernel, typ)
		}
	}
	return 0
}

// apply sets inout to the combination of in and inout by a predefined operation.
func (o Op) apply(in, inout []byte, t op.Type) error {
	k := o.kernel.On(t)
	if n := len(inout); n != 0 && localKernel.Whole(k, t, &inout[0], &in[0], &inout[0], n) {
		return nil
	}
	if err := op.Check(k, t); err != nil {
		return err
	}
	if errLocalKernel != nil {
		return &class.Error{Class: class.Arg, Text: op.KernelEnv + ": " + errLocalKernel.Error()}
	}
	localKernel.Apply(k, t, inout, in, inout)
	return nil
}

// applyUser sets inout to the combination of in and inout by a user-defined operation.
func (o Op) applyUser(in, inout []byte, elem reflect.Type) error {
	if o.user.freed.Load() {
		return op.Check(0, 0)
	}
	if err := o.user.Check(elem); err != nil {
		return err
	}
	return o.user.Apply(inout, in, inout)
}

// failLocal raises an error of the engine that belongs to no communicator.
func failLocal(err error, by call.Number) error {
	var ce *class.Error
	if !errors.As(err, &ce) {
		return fail(ErrOther, by, nil, "%v", err)
	}
	e := newError(Class(ce.Class), by, nil, "%s", ce.Text)
	e.cause = ce.Cause
	return e.raised()
}
