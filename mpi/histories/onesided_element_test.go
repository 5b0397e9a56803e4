package histories_test

import (
	"math"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/mpi"
)

// element is an element type of accumulates.
type element struct {
	id    dtype.ID
	typ   op.Type
	size  int               // in memory, with padding
	parts []dtypetest.Entry // its data
	ops   []mpi.Op          // operations that are defined on it
}

// accumulable are the element types: of all sizes, with and without padding.
var accumulable = sync.OnceValue(func() map[dtype.ID]*element {
	all := map[dtype.ID]*element{}
	for _, id := range []dtype.ID{dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int, dtype.Uint32, dtype.Long,
		dtype.Uint64, dtype.Float, dtype.Double, dtype.CFloatComplex, dtype.CDoubleComplex, dtype.LongDouble, dtype.CBool,
		dtype.Byte, dtype.TwoInt, dtype.DoubleInt, dtype.ShortInt} {
		t := types.Type(id)
		_, extent := t.Extent()
		e := &element{id: id, typ: op.For(t), size: int(extent), parts: dtypetest.Named(id).Typemap(types, 2).Entries}
		for _, o := range kernels() {
			if op.CheckAccumulate(o.kernel, e.typ) == nil {
				e.ops = append(e.ops, o.Op)
			}
		}
		all[id] = e
	}
	return all
})

func elementOf(id dtype.ID) *element { return accumulable()[id] }

// kernel is an operation, and its name in the engine's kernels.
type kernel struct {
	mpi.Op
	kernel op.Op
}

func kernels() []kernel {
	return []kernel{{mpi.Sum, op.Sum}, {mpi.Prod, op.Prod}, {mpi.Min, op.Min}, {mpi.Max, op.Max}, {mpi.Land, op.Land},
		{mpi.Lor, op.Lor}, {mpi.Lxor, op.Lxor}, {mpi.Band, op.Band}, {mpi.Bor, op.Bor}, {mpi.Bxor, op.Bxor},
		{mpi.Minloc, op.Minloc}, {mpi.Maxloc, op.Maxloc}, {mpi.Replace, op.Replace}, {mpi.NoOp, op.NoOp}}
}

func kernelOf(o mpi.Op) op.Op {
	for _, k := range kernels() {
		if k.Op == o {
			return k.kernel
		}
	}
	return 0
}

// packedSize is the size of the data, without padding.
func (e *element) packedSize() int {
	n := 0
	for _, p := range e.parts {
		n += int(p.Elem.Size)
	}
	return n
}

// value is the data in an element's memory in a canonical form, in which equal values are equal:
// all NaNs are the same, and the bytes after the 10 of an extended number are zero.
func (e *element) value(mem []byte) string {
	out := make([]byte, 0, e.packedSize())
	for _, p := range e.parts {
		out = append(out, mem[p.Off:p.Off+p.Elem.Size]...)
	}
	return e.plain(out)
}

// plain converts packed data to the canonical form. It may change the data.
func (e *element) plain(data []byte) string {
	at := 0
	for _, p := range e.parts {
		b := data[at : at+int(p.Elem.Size)]
		at += len(b)
		switch {
		case p.Elem.Format == dtype.Extended && p.Elem.Kind == dtype.Floating:
			clear(b[10:])
		case p.Elem.Kind != dtype.Floating && p.Elem.Kind != dtype.Complex:
		case p.Elem.Format == dtype.Single:
			for ; len(b) > 0; b = b[4:] {
				if v := (*float32)(unsafe.Pointer(&b[0])); *v != *v {
					*v = float32(math.NaN())
				}
			}
		case p.Elem.Format == dtype.Double64:
			for ; len(b) > 0; b = b[8:] {
				if v := (*float64)(unsafe.Pointer(&b[0])); *v != *v {
					*v = math.NaN()
				}
			}
		}
	}
	return string(data)
}

// memory is an element with a value, as bytes in memory.
func (e *element) memory(value string) []byte {
	mem := make([]byte, e.size)
	for _, p := range e.parts {
		value = value[copy(mem[p.Off:p.Off+p.Elem.Size], value):]
	}
	return mem
}

// combined is the value of left o right, computed by the plain loops of the engine.
func (e *element) combined(o mpi.Op, left, right string) string {
	dst := make([]byte, e.size)
	op.Apply(kernelOf(o), e.typ, dst, e.memory(left), e.memory(right))
	return e.value(dst)
}
