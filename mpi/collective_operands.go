package mpi

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// Reductions of Buffers. Elements on which predefined operations are defined have in memory the
// form that the engine works on, so that such Buffers are handled as slices. Operands of
// user-defined operations may have any layout; they are packed to be sent.

// reduce carries out a blocking Reduce or Allreduce of Buffers.
func (c *Comm) reduce(k coll.Kind, a coll.Args) error {
	if a.Type == 0 { // a user-defined operation, or an invalid argument
		return c.do(k, a)
	}
	if err := c.usable(k.Number()); err != nil {
		return err
	}
	from, _ := a.Send.Bytes()
	to, _ := a.Recv.Bytes()
	if k == coll.Reduce {
		return c.done(k, c.w.Coll.Reduce(c.core, from, to, a.Op, a.Type, a.Send.Code, a.Root))
	}
	return c.done(k, c.w.Coll.Allreduce(c.core, from, to, a.Op, a.Type, a.Send.Code))
}

// operands makes the arguments of a reduction of Buffers; for predefined operations they are
// slices of the Buffers' memory. If something is invalid, the error takes the place of the
// memory, and the call returns it.
func (c *Comm) operands(k coll.Kind, send, recv *Buffer, o Op, root int) coll.Args {
	a := coll.Args{Root: root}
	if c == nil {
		return a
	}
	sends, receives := coll.Significant(c.core, k, root)
	if !sends {
		send = nil
	}
	if !receives {
		recv = nil
	}
	if err := o.takes(send, recv, &a); err != nil {
		wrong := coll.Side{Mem: mem.Wrong(err)}
		a = coll.Args{Root: root, Send: wrong, Recv: wrong}
		if o.user != nil {
			a.User = &o.user.User // the others use no slot
		}
		for _, b := range []*Buffer{send, recv} {
			if b != nil && b.err == nil && b.b.Type() != nil {
				a.Wrong = 1 + int(b.b.Count()*b.b.Type().Size())
				break
			}
		}
		return a
	}
	return a
}

// takes checks o and the types of the significant Buffers, and sets in a the operation and the
// type of the operands.
func (o Op) takes(send, recv *Buffer, a *coll.Args) (err error) {
	if err := wrongBuffer(send, recv); err != nil {
		return err
	}
	if send == nil { // on an intercommunicator: only the result is significant, or nothing
		if recv == nil {
			return nil
		}
		send = recv
	}
	if recv != nil {
		if err := sameElements(send, recv); err != nil {
			return err
		}
	}
	if o.user != nil {
		a.User, err = o.user.forBuffer(send)
		a.Send = send.side()
		if recv != nil {
			a.Recv = recv.side()
		}
		return err
	}
	a.Op, a.Type, err = o.elements(send)
	if err != nil {
		return err
	}
	a.Width = a.Type.Size()
	bytes, err := send.inMemory(a.Width)
	a.Send = coll.Slice(bytes, send.b.Code())
	if err != nil || recv == nil {
		return err
	}
	if recv.b.Type() != send.b.Type() {
		if _, _, err := o.elements(recv); err != nil {
			return err
		}
	}
	bytes, err = recv.inMemory(a.Width)
	a.Recv = coll.Slice(bytes, a.Send.Code)
	return err
}

// sameElements checks that the elements of both Buffers have the same basic types.
func sameElements(send, recv *Buffer) error {
	s, r := send.b.Type(), recv.b.Type()
	if s == r || s == nil || r == nil || dtype.SameSignature(s, 1, r, 1) {
		return nil
	}
	return class.Errorf(class.Type, "elements to reduce are %s, elements of the result are %s", s.Describe(1), r.Describe(1))
}

// elements returns the kernel of a predefined operation for the elements of the Buffer, and
// their type as an operand.
func (o Op) elements(b *Buffer) (op.Op, op.Type, error) {
	if t := b.b.Type(); t != nil {
		typ, err := op.CheckFor(o.kernel, t)
		return o.kernel.On(typ), typ, err
	}
	// The zero Buffer has no element type, so that no operation is undefined on it.
	if o.kernel == 0 || o.kernel == op.Replace || o.kernel == op.NoOp {
		return 0, 0, op.Check(o.kernel, op.Int8)
	}
	return op.Sum, op.Int8, nil
}

// inMemory returns the memory of elements on which predefined operations are defined.
func (b *Buffer) inMemory(width int) ([]byte, error) {
	n := int(b.b.Count())
	if bytes, ok := b.b.Contiguous(); ok && len(bytes) == n*width {
		return bytes, nil
	}
	if bytes, _ := b.b.Memory(); len(bytes) == n*width { // pairs with padding
		return bytes, nil
	}
	return nil, class.Errorf(class.Buffer, "the slice ends before the padding of the last element of %s", b.b.Type().Describe(b.b.Count()))
}
