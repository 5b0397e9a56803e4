package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
)

// accumulate fills in the operands of an accumulate: elements of origin, which is not
// looked at with NoOp, for count elements of t at the target, or the first ones of them;
// and room for as many in result, which is nil if nothing is fetched. All are made of
// elements of one predefined type.
func (a *access) accumulate(origin, result *Buffer, count int64, t *dtype.Type, o Op) error {
	switch {
	case o.user != nil:
		return wrong(ErrOp, "operation %v: a target carries out predefined ones only", o)
	case o.kernel == op.NoOp && result == nil:
		return wrong(ErrOp, "operation %v is for calls that fetch", o)
	}
	if result != nil {
		if err := writable(result); err != nil {
			return err
		}
	}
	size, err := a.at(count, t)
	if err != nil {
		return err
	}
	if o.kernel == op.NoOp {
		origin = nil
	} else if origin.err != nil {
		return origin.err
	}
	leaf, err := a.elements(o, origin, result, count, t)
	if err != nil {
		return err
	}
	if origin != nil {
		size = origin.b.Size()
		if count, err = a.send(size, count, t); err != nil {
			return err
		}
	}
	if result != nil && result.b.Size() != size {
		if result.b.Size() < size {
			return tooLong(size, result.b.Size())
		}
		return wrong(ErrCount, "room for %d bytes, fetched are %d", result.b.Size(), size)
	}
	switch {
	case size == 0:
		return nil
	case leaf.Size() != int64(a.typ.Size()):
		return a.padded(leaf.Size(), origin, result, count, t)
	}
	if origin != nil {
		a.from(&origin.b)
	}
	if result != nil {
		a.into(&result.b)
	}
	return nil
}

// elements fills in operation and type, and returns the predefined type of the elements,
// nil if there are none: then the operation need not be defined on what they would be.
func (a *access) elements(o Op, origin, result *Buffer, count int64, t *dtype.Type) (leaf *dtype.Type, err error) {
	a.op, a.typ = o.kernel, op.Int8
	if t.Size() == 0 || count == 0 {
		if o.kernel == 0 {
			return nil, op.CheckAccumulate(0, op.Int8)
		}
		return nil, nil
	}
	if leaf, a.typ, err = accumulated(o.kernel, t); err != nil {
		return nil, err
	}
	for _, b := range [...]*Buffer{origin, result} {
		if b == nil || b.b.Size() == 0 {
			continue
		}
		other, typ, err := accumulated(o.kernel, b.b.Type())
		if err != nil {
			return nil, err
		}
		if typ != a.typ || other.Size() != leaf.Size() {
			return nil, wrong(ErrType, "elements here are %s, at the target %s", other, leaf)
		}
	}
	a.op = o.kernel.On(a.typ)
	return leaf, nil
}

// accumulated is what the elements of a datatype are, all of one predefined type, and what
// that is to an operation.
func accumulated(o op.Op, t *dtype.Type) (*dtype.Type, op.Type, error) {
	if err := movable(t); err != nil {
		return nil, 0, err
	}
	leaf := t.Leaf()
	if leaf == nil {
		return nil, 0, wrong(ErrType, "%s is not made of elements of one predefined type", t)
	}
	if o != op.Replace && o != op.NoOp {
		typ, err := op.CheckFor(o, leaf)
		return leaf, typ, err
	}
	if typ := op.For(leaf); typ != 0 {
		return leaf, typ, nil
	}
	// Characters, and what is not looked at: as integers of their size.
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

// padded fills in operands that are pairs of packed bytes each, and more in memory, which
// is how the engine takes them: as blocks of bytes.
func (a *access) padded(packed int64, origin, result *Buffer, count int64, t *dtype.Type) (err error) {
	width := int64(a.typ.Size())
	for _, x := range [...]struct {
		b *Buffer
		d *rma.Data
	}{{origin, &a.origin}, {result, &a.result}} {
		if x.b == nil {
			continue
		}
		if *x.d, err = memoryOfPairs(&x.b.b, packed, width); err != nil {
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
	a.layout, err = blocksAt(offs, width)
	return err
}

// blocksAt is blocks of bytes at the target.
func blocksAt(offs []int64, width int64) (rma.Layout, error) {
	inStep := true
	for i, off := range offs {
		inStep = inStep && off == int64(i)*width
	}
	if inStep {
		return rma.Layout{}, nil
	}
	t, err := blocks(offs, width)
	return rma.Layout{Type: t, Count: 1}, err
}

// blocks is a type of blocks of bytes.
func blocks(offs []int64, width int64) (*dtype.Type, error) {
	t, err := dtype.HindexedBlock(width, offs, types().Type(dtype.Byte))
	if err == nil {
		t.Commit()
	}
	return t, err
}

// memoryOfPairs is pairs with what pads them.
func memoryOfPairs(b *dtype.Buffer, packed, width int64) (rma.Data, error) {
	mem, _ := b.Memory()
	var first [1][]byte
	offs := make([]int64, 0, b.Size()/packed)
	inStep := true
	for i := int64(0); i < b.Size(); i += packed {
		b.Slices(first[:], i, 1)
		off := int64(uintptr(unsafe.Pointer(&first[0][0])) - uintptr(unsafe.Pointer(&mem[0])))
		if off+width > int64(len(mem)) {
			return rma.Data{}, wrong(ErrBuffer, "what pads the last of %s is not in the slice", b.Type().Describe(b.Count()))
		}
		inStep = inStep && off == int64(len(offs))*width
		offs = append(offs, off)
	}
	if inStep {
		return rma.Data{Bytes: mem[:int64(len(offs))*width]}, nil
	}
	t, err := blocks(offs, width)
	if err != nil {
		return rma.Data{}, err
	}
	layout, err := dtype.Bind(mem, 0, t, 1)
	return rma.Data{Layout: &layout}, err
}
