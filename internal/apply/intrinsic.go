package apply

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/sys"
)

// Operations for which the program has asserted mpi_assert_accumulate_intrinsic use atomic
// operations of the processor only, and do not take stripes. Such calls are atomic with respect to
// each other, but not to calls that take stripes: a process to which a stripe is biased updates
// single elements by plain stores. Elements that are not direct are updated as usual.

// Intrinsic reports whether elements of size bytes, at multiples of size, are updated by an
// atomic operation of the processor.
func Intrinsic(size int) bool {
	return size == 8 || size == 4 || !sys.Race && (size == 1 || size == 2 || size == 16 && hasSwap16())
}

// Few returns the number of contiguous elements up to which Accumulate updates them one by one.
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
