package mpi

import (
	"reflect"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
)

// Op is a reduction operation: a predefined one, or one made by CreateOp or CreateOpFunc. Ops
// are values; the zero Op is the null operation.
//
// C: MPI_Op, section 6.9.2.
type Op struct {
	kernel op.Op
	user   *userOp
}

// userOp is a user-defined operation. User is for slices of the elements that it was made for;
// on combines Buffers.
type userOp struct {
	op.User
	on    func(in, inout Buffer)
	freed atomic.Bool // pairs with nothing: use of an operation while another goroutine frees it may see either value
}

// OpNull is the null operation; using it is ErrOp.
//
// C: MPI_OP_NULL, section 6.9.7.
var OpNull Op

// The predefined operations. Sum and Prod are defined on all numbers, Min and Max on integers
// and floating-point numbers, the logical ones on integers and booleans, the bitwise ones on
// integers, Minloc and Maxloc on ValueIndex. For other types they are ErrOp. All are
// commutative.
//
// Of the datatypes of Buffers they are defined on the basic types of C and Fortran, including
// real and complex numbers of every precision, on those of TypeF90Real and the like, on the
// predefined pairs, and on duplicates of these. On MPI_BYTE only the bitwise operations are
// defined, and on integers that are not types of C (MPI_INTEGER, MPI_AINT) the logical ones are
// not. No predefined operation is defined on characters and on derived types.
//
// A minimum or maximum of floating-point numbers is NaN if one of the operands is, and -0 is
// less than +0. The logical operations take all values other than 0 as true, and their true
// result is 1. The result of Replace is the second operand and that of NoOp the first; both are
// for one-sided communication only, and ErrOp in reductions.
//
// C: MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP, sections 6.9.2 and 12.3.4.
var (
	Sum     = Op{kernel: op.Sum}
	Prod    = Op{kernel: op.Prod}
	Min     = Op{kernel: op.Min}
	Max     = Op{kernel: op.Max}
	Land    = Op{kernel: op.Land}
	Lor     = Op{kernel: op.Lor}
	Lxor    = Op{kernel: op.Lxor}
	Band    = Op{kernel: op.Band}
	Bor     = Op{kernel: op.Bor}
	Bxor    = Op{kernel: op.Bxor}
	Minloc  = Op{kernel: op.Minloc}
	Maxloc  = Op{kernel: op.Maxloc}
	Replace = Op{kernel: op.Replace}
	NoOp    = Op{kernel: op.NoOp}
)

// Free makes o the null operation. Reductions that were started with it complete normally; using
// a copy of o is ErrOp from now on. ErrOp if o is a predefined operation.
//
// C: MPI_Op_free, section 6.9.7.
func (o *Op) Free() error {
	switch {
	case o.IsNull():
		return fail(ErrOp, call.OpFree, nil, "the operation is null")
	case o.user == nil:
		return fail(ErrOp, call.OpFree, nil, "operation %v is predefined", *o)
	case o.user.freed.Swap(true):
		return fail(ErrOp, call.OpFree, nil, "the operation has been freed")
	}
	*o = Op{}
	return nil
}

// IsNull reports whether o is the null operation.
//
// C: MPI_OP_NULL, section 6.9.7.
func (o Op) IsNull() bool { return o == Op{} }

// Commutative reports whether the operation is commutative. The null operation is not.
//
// C: MPI_Op_commutative, section 6.9.8.
func (o Op) Commutative() bool {
	if o.user != nil {
		return o.user.Commutes
	}
	return o.kernel != 0
}

// String is the name of the operation.
//
// C: none; MPI_Op has no name.
func (o Op) String() string {
	if o.user != nil {
		return "user-defined"
	}
	return o.kernel.String()
}

// reduction makes the arguments of a reduction of slices.
func reduction[T Elem](send, recv []T, o Op) coll.Args {
	a := coll.Args{Send: coll.Slice(memory(send), elementCode[T]()), Recv: coll.Slice(memory(recv), elementCode[T]()), Width: sizeOf[T](),
		Op: o.kernel.On(opType[T]()), Type: opType[T]()}
	if o.user != nil && !o.user.freed.Load() && a.Type != op.Handle {
		a.User, a.Elem = &o.user.User, reflect.TypeFor[T]()
		if o.user.Of == nil {
			a.User = o.user.forElements(elemType[T]())
		}
	}
	return a
}
