package apply

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/sys"
)

// What programs have asserted to be atomic operations of the processor
// (mpi_assert_accumulate_intrinsic) is done by those alone, without a look at the stripes.
// Such calls are atomic with each other, not with those who enter stripes: a favoured process
// updates single elements, too, by plain stores. Elements that are not direct are done as
// always.

// Intrinsic reports whether elements of size bytes that lie at a multiple of it are updated
// by an atomic operation of the processor.
func Intrinsic(size int) bool {
	return size == 8 || size == 4 || !sys.Race && (size == 1 || size == 2 || size == 16 && hasSwap16())
}

// Few is up to how many elements in a row Accumulate updates one by one.
func (r *Region) Few() int { return r.few() }

// AccumulateIntrinsic is Accumulate, element by element.
func (r *Region) AccumulateIntrinsic(off int64, o op.Op, t op.Type, data, old []byte) {
	size, n := t.Size(), len(data)
	if o == op.NoOp {
		data, n = nil, len(old)
	}
	mem := r.Mem[off : off+int64(n)]
	if n == 0 || !direct(&mem[0], size) {
		r.Accumulate(off, o, t, data, old)
		return
	}
	each(mem, size, o, t, data, old)
}

// FetchOpIntrinsic is FetchOp. It costs one atomic operation and 4 ns.
func (r *Region) FetchOpIntrinsic(off int64, o op.Op, t op.Type, value, old []byte) {
	size := t.Size()
	mem := r.Mem[off : off+int64(size)]
	if !direct(&mem[0], size) {
		r.FetchOp(off, o, t, value, old)
		return
	}
	if o == op.NoOp {
		value = nil
	}
	element(unsafe.Pointer(&mem[0]), size, o, t, value, old)
}

// CompareSwapIntrinsic is CompareSwap. It costs one atomic operation and 3 ns.
func (r *Region) CompareSwapIntrinsic(off int64, size int, value, compare, old []byte) {
	mem := r.Mem[off : off+int64(size)]
	if !direct(&mem[0], size) {
		r.CompareSwap(off, size, value, compare, old)
		return
	}
	compareSwap(unsafe.Pointer(&mem[0]), size, value[:size], compare[:size], old[:size])
}
