package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// accumulate sets the operands of an accumulate: elements of the origin, which is ignored with
// NoOp, for those at the target or the first of them; and memory for as many elements in result,
// which is nil if nothing is fetched. All are of one predefined type.
func (x *operands) accumulate(o *operation.Op, origin, result *Buffer) error {
	switch {
	case x.op.user != nil:
		return class.Errorf(class.Op, "operation %v is not predefined: only predefined operations can be used at a target", x.op)
	case x.op.kernel == op.NoOp && result == nil:
		return class.Errorf(class.Op, "operation %v can only be used by calls that fetch", x.op)
	}
	if result != nil {
		if err := writable(result); err != nil {
			return err
		}
	}
	size, err := writtenAt(o, x.count, x.typ)
	if err != nil {
		return err
	}
	if x.op.kernel == op.NoOp {
		origin = nil
	} else if origin.err != nil {
		return origin.err
	}
	o.Kind = operation.Accumulate
	leaf, err := x.elements(o, origin, result)
	if err != nil {
		return err
	}
	count := x.count
	if origin != nil {
		size = origin.b.Size()
		count, err = x.send(o, size)
		if err != nil {
			return err
		}
	}
	if result != nil && result.b.Size() != size {
		if result.b.Size() < size {
			return tooLong(size, result.b.Size())
		}
		return class.Errorf(class.Count, "the result buffer has %d bytes, but %d are fetched", result.b.Size(), size)
	}
	switch {
	case size == 0:
		return nil
	case leaf.Size() != int64(o.Elem.Size()):
		return padded(o, leaf.Size(), origin, result, count, x.typ)
	}
	if origin != nil {
		o.Origin = mem.In(&origin.b)
	}
	if result != nil {
		o.Result = mem.In(&result.b)
	}
	return nil
}

// elements sets operation and type, and returns the predefined type of the elements. It is nil
// if there are no elements: then the operation need not be defined on their type.
func (x *operands) elements(o *operation.Op, origin, result *Buffer) (leaf *dtype.Type, err error) {
	by := x.op.kernel
	o.Fn, o.Elem = by, op.Int8
	if x.typ.Size() == 0 || x.count == 0 {
		if by == 0 {
			return nil, op.CheckAccumulate(0, op.Int8)
		}
		return nil, nil
	}
	leaf, o.Elem, err = accumulated(by, x.typ)
	if err != nil {
		return nil, err
	}
	for _, b := range [...]*Buffer{origin, result} {
		if b == nil || b.b.Size() == 0 {
			continue
		}
		other, typ, err := accumulated(by, b.b.Type())
		if err != nil {
			return nil, err
		}
		if typ != o.Elem || other.Size() != leaf.Size() {
			return nil, class.Errorf(class.Type, "elements are %s at the origin and %s at the target", other, leaf)
		}
	}
	o.Fn = by.On(o.Elem)
	return leaf, nil
}

// fetch sets the operands of an accumulate of one element with a result. The element has the
// predefined type of result if the place has no type.
func (x *operands) fetch(o *operation.Op, origin, result *Buffer) error {
	if result.err != nil {
		return result.err
	}
	if x.typ == nil {
		if err := single(result); err != nil {
			return err
		}
		if x.op.kernel != op.NoOp && origin.err == nil {
			if err := single(origin); err != nil {
				return err
			}
		}
		x.typ, x.count = result.b.Type(), 1
	}
	return x.accumulate(o, origin, result)
}

// single returns an error unless a Buffer is one element of a predefined type.
func single(b *Buffer) error {
	t := b.b.Type()
	switch {
	case b.b.Count() != 1:
		return class.Errorf(class.Count, "%d elements, want exactly 1", b.b.Count())
	case t.Elem() == nil:
		if _, _, pair := t.Pair(); !pair {
			return class.Errorf(class.Type, "%s is not a predefined datatype", t)
		}
	}
	return nil
}

// compareAndSwap sets the operands of a compare-and-swap.
func (x *operands) compareAndSwap(o *operation.Op, origin, compare, result *Buffer) error {
	if compare.err != nil {
		return compare.err
	}
	if err := single(compare); err != nil {
		return err
	}
	x.op = Replace
	if err := x.fetch(o, origin, result); err != nil {
		return err
	}
	if _, typ, err := accumulated(op.Replace, compare.b.Type()); err != nil || typ != o.Elem {
		return class.Errorf(class.Type, "elements to compare are %s, elements to fetch are %s", compare.b.Type(), result.b.Type())
	}
	if e := result.b.Type().Elem(); !compares(e) {
		return class.Errorf(class.Type, "elements of %s cannot be compared: only integers, logicals and bytes can", result.b.Type())
	}
	o.Kind, o.Fn = operation.CompareAndSwap, 0
	o.Compare, _ = compare.b.Contiguous()
	return nil
}

// compares reports whether CompareAndSwap is defined on elements of a type.
func compares(e *dtype.Elem) bool {
	if e == nil {
		return false
	}
	switch e.Kind {
	case dtype.Integer, dtype.Natural, dtype.Logical, dtype.Boolean, dtype.Raw:
		return true
	case dtype.Character:
		return e.ID == dtype.Char // an extension of the standard, as for accumulates
	}
	return false
}

// accumulated returns the predefined type of all elements of a datatype, and the operand type of
// an operation for it.
func accumulated(o op.Op, t *dtype.Type) (*dtype.Type, op.Type, error) {
	if err := movable(t); err != nil {
		return nil, 0, err
	}
	leaf := t.Leaf()
	if leaf == nil {
		return nil, 0, class.Errorf(class.Type, "%s is not made of elements of one predefined type", t)
	}
	if o != op.Replace && o != op.NoOp {
		typ, err := op.CheckFor(o, leaf)
		return leaf, typ, err
	}
	if typ := op.For(leaf); typ != 0 {
		return leaf, typ, nil
	}
	// Characters and uninterpreted bytes are treated as integers of their size.
	switch leaf.Size() {
	case 1:
		return leaf, op.Byte, nil
	case 2:
		return leaf, op.Uint16, nil
	case 4:
		return leaf, op.Uint32, nil
	}
	return leaf, op.Uint64, nil
}

// padded sets operands that are pairs with padding: each pair has packed bytes of data, and more
// in memory. The engine takes them with the padding, as blocks of bytes. It stores only data; what it sends is a
// copy, in which the padding is 0.
func padded(o *operation.Op, packed int64, origin, result *Buffer, count int64, t *dtype.Type) (err error) {
	width := int64(o.Elem.Size())
	if origin != nil && origin.b.Size() > 0 {
		o.Origin = copyOfPairs(&origin.b, packed, o.Elem)
	}
	if result != nil {
		o.Result, err = memoryOfPairs(&result.b, packed, width)
		if err != nil {
			return err
		}
	}
	at, err := dtype.At(nil, t, count)
	if err != nil {
		return err
	}
	var first [1]dtype.Run
	offs := make([]int64, 0, at.Size()/packed)
	for i := int64(0); i < at.Size(); i += packed {
		at.Runs(first[:], i, 1)
		offs = append(offs, first[0].Off)
	}
	o.Place, err = blocksAt(offs, width)
	return err
}

// blocksAt is the place of blocks of bytes at the target.
func blocksAt(offs []int64, width int64) (operation.Place, error) {
	inStep := true
	for i, off := range offs {
		inStep = inStep && off == int64(i)*width
	}
	if inStep {
		return operation.Place{}, nil
	}
	t, err := blocks(offs, width)
	return operation.Place{Type: t, Count: 1}, err
}

// blocks is a datatype of blocks of bytes.
func blocks(offs []int64, width int64) (*dtype.Type, error) {
	t, err := dtype.HindexedBlock(width, offs, types().Type(dtype.Byte))
	if err == nil {
		t.Commit()
	}
	return t, err
}

// copyOfPairs is a copy of pairs, with padding.
func copyOfPairs(b *dtype.Buffer, packed int64, t op.Type) mem.Mem {
	width, at := t.Size(), t.IndexOffset()
	all := make([]byte, int(b.Size()/packed)*width)
	_, index := t.Parts()
	value := int(packed) - index.Size()
	pair := make([]byte, packed)
	for i := range len(all) / width {
		b.Pack(pair, int64(i)*packed)
		copy(all[i*width:], pair[:value])
		copy(all[i*width+at:], pair[value:])
	}
	return mem.Of(all)
}

// memoryOfPairs is the memory of pairs including their padding.
func memoryOfPairs(b *dtype.Buffer, packed, width int64) (mem.Mem, error) {
	all, _ := b.Memory()
	var first [1][]byte
	offs := make([]int64, 0, b.Size()/packed)
	inStep := true
	for i := int64(0); i < b.Size(); i += packed {
		b.Slices(first[:], i, 1)
		off := int64(uintptr(unsafe.Pointer(&first[0][0])) - uintptr(unsafe.Pointer(&all[0])))
		if off+width > int64(len(all)) {
			return mem.Mem{}, class.Errorf(class.Buffer, "the slice ends before the padding of the last element of %s", b.Type().Describe(b.Count()))
		}
		inStep = inStep && off == int64(len(offs))*width
		offs = append(offs, off)
	}
	if inStep {
		return mem.Of(all[:int64(len(offs))*width]), nil
	}
	t, err := blocks(offs, width)
	if err != nil {
		return mem.Mem{}, err
	}
	layout, err := dtype.Bind(all, 0, t, 1)
	return mem.In(&layout), err
}
