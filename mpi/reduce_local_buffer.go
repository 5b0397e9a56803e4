package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// ReduceLocal is the function ReduceLocal for Buffers: it sets each element of inout to the
// combination of the element of in and itself. ErrType if the elements of the two do not have
// the same basic types, or if bytes occur twice in the type of inout. Comm.Reduce says which
// types an operation accepts. The function of CreateOpFunc is called once, with the Buffers
// themselves, if they have the same type.
//
// C: MPI_Reduce_local, section 6.9.9.
func (o Op) ReduceLocal(in, inout Buffer) error {
	if err := o.reduceLocal(&in, &inout); err != nil {
		return failLocal(err, call.ReduceLocal)
	}
	return nil
}

func (o Op) reduceLocal(in, inout *Buffer) error {
	if err := wrongBuffer(in, inout); err != nil {
		return err
	}
	n := in.b.Count()
	if have := inout.b.Count(); have < n {
		return class.Errorf(class.Count, "inout buffer has %d elements, want %d", have, n)
	}
	if err := sameElements(in, inout); err != nil {
		return err
	}
	result := Buffer{b: inout.b.First(n), h: inout.h}
	switch {
	case result.b.Overlaps():
		return class.Errorf(class.Type, "%s cannot be a result: bytes of memory occur twice in it", result.b.Type().Describe(n))
	case dtype.Shares(&in.b, &result.b):
		return class.Errorf(class.Buffer, "the two buffers share memory: this call has no in-place form")
	case o.user != nil:
		return o.user.reduceLocal(in, &result)
	}
	return o.applyMemory(in, &result)
}

// applyMemory is apply for Buffers with the same number of elements.
func (o Op) applyMemory(in, inout *Buffer) error {
	kernel, typ, err := o.elements(in)
	if err != nil {
		return err
	}
	if _, _, err := o.elements(inout); err != nil {
		return err
	}
	left, err := in.inMemory(typ.Size())
	if err != nil {
		return err
	}
	right, err := inout.inMemory(typ.Size())
	if err != nil {
		return err
	}
	return Op{kernel: kernel}.apply(left, right, typ)
}

// localPiece is the number of bytes of a Buffer that are combined at a time if the operands have
// to be packed.
const localPiece = 16 << 10

// reduceLocal combines Buffers with the same number of elements by a user-defined operation.
func (u *userOp) reduceLocal(in, inout *Buffer) error {
	f, err := u.forBuffer(in)
	if err != nil || in.b.Size() == 0 {
		return err
	}
	if u.Of == nil && in.b.Type() == inout.b.Type() {
		return op.Recovered(func() { inout.Datatype().h.given(u.on, *in, *inout) })
	}
	x, direct := in.b.Contiguous()
	if y, ok := inout.b.Contiguous(); ok && direct {
		return f.Apply(y, x, y)
	}
	size := in.b.Type().Size()
	size *= max(1, localPiece/size)
	left, right := make([]byte, size), make([]byte, size)
	for at := int64(0); at < in.b.Size(); at += size {
		n := in.b.Pack(left, at)
		inout.b.Pack(right, at)
		if err := f.Apply(right[:n], left[:n], right[:n]); err != nil {
			return err
		}
		inout.b.Unpack(right[:n], at)
	}
	return nil
}
