package apply

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
)

// direct reports whether an element of size bytes at address first is updated by an atomic
// operation of the processor. The result depends only on the address and the machine, so that it
// is the same in all processes that update the element.
func direct(first *byte, size int) bool {
	if uintptr(unsafe.Pointer(first))&uintptr(size-1) != 0 {
		return false
	}
	return Intrinsic(size)
}

// each updates the elements of mem one by one.
func each(mem []byte, size int, o op.Op, t op.Type, data, old []byte) {
	for len(mem) > 0 {
		element(unsafe.Pointer(&mem[0]), size, o, t, data, old)
		mem, data, old = mem[size:], after(data, size), after(old, size)
	}
}

// element updates the element at p with the one at the start of data, and stores the previous
// value in old, unless old is nil.
func element(p unsafe.Pointer, size int, o op.Op, t op.Type, data, old []byte) {
	switch size {
	case 8:
		was := update8((*uint64)(p), o, t, value[uint64](o, data))
		if old != nil {
			store(old, was)
		}
	case 4:
		was := update4((*uint32)(p), o, t, value[uint32](o, data))
		if old != nil {
			store(old, was)
		}
	case 2:
		was := updateSmall(p, 16, o, t, uint32(value[uint16](o, data)))
		if old != nil {
			store(old, uint16(was))
		}
	case 1:
		was := updateSmall(p, 8, o, t, uint32(value[uint8](o, data)))
		if old != nil {
			store(old, uint8(was))
		}
	default:
		was := update16(p, o, t, value[[2]uint64](o, data))
		if old != nil {
			store(old, was)
		}
	}
}

// value returns the first element of data, 0 for NoOp, which has no data.
func value[T any](o op.Op, data []byte) (v T) {
	if o != op.NoOp {
		v = *(*T)(unsafe.Pointer(&data[:unsafe.Sizeof(v)][0]))
	}
	return v
}

// store stores v at the start of b.
func store[T any](b []byte, v T) { *(*T)(unsafe.Pointer(&b[:unsafe.Sizeof(v)][0])) = v }

// update8 updates an aligned word, by one instruction if the processor has one, and returns the
// previous value. It pairs with itself and the other updates of elements, in all processes.
func update8(p *uint64, o op.Op, t op.Type, v uint64) uint64 {
	switch {
	case o == op.NoOp:
		return atomic.LoadUint64(p)
	case o == op.Replace && !t.Gaps():
		return atomic.SwapUint64(p, v)
	case planted.AddInTwo && o == op.Sum && (t == op.Int64 || t == op.Uint64):
		atomic.StoreUint64(p, atomic.LoadUint64(p)+v)
		return atomic.LoadUint64(p) - v
	case o == op.Sum && (t == op.Int64 || t == op.Uint64):
		return atomic.AddUint64(p, v) - v
	case o == op.Band:
		return atomic.AndUint64(p, v)
	case o == op.Bor:
		return atomic.OrUint64(p, v)
	}
	for {
		was := atomic.LoadUint64(p)
		if atomic.CompareAndSwapUint64(p, was, op.Word(o, t, was, v)) {
			return was
		}
	}
}

// update4 is update8 for an element of 4 bytes.
func update4(p *uint32, o op.Op, t op.Type, v uint32) uint32 {
	switch {
	case o == op.NoOp:
		return atomic.LoadUint32(p)
	case o == op.Replace:
		return atomic.SwapUint32(p, v)
	case o == op.Sum && (t == op.Int32 || t == op.Uint32):
		return atomic.AddUint32(p, v) - v
	case o == op.Band:
		return atomic.AndUint32(p, v)
	case o == op.Bor:
		return atomic.OrUint32(p, v)
	}
	for {
		was := atomic.LoadUint32(p)
		if atomic.CompareAndSwapUint32(p, was, uint32(op.Word(o, t, uint64(was), uint64(v)))) {
			return was
		}
	}
}

// around returns the word of 4 bytes around a small element, and the element's shift in it.
func around(p unsafe.Pointer) (word *uint32, up uint) {
	at := uintptr(p) & 3
	return (*uint32)(unsafe.Add(p, -int(at))), uint(at) * 8
}

// updateSmall updates an element of 8 or 16 bits by compare-and-swap of its word. If a neighbour
// in the word changes meanwhile, it tries again.
func updateSmall(p unsafe.Pointer, bits uint, o op.Op, t op.Type, v uint32) uint32 {
	word, up := around(p)
	mask := uint32(1)<<bits - 1
	for {
		all := atomic.LoadUint32(word)
		was := all >> up & mask
		if o == op.NoOp {
			return was
		}
		is := uint32(op.Word(o, t, uint64(was), uint64(v))) & mask
		if planted.NeighbourStored {
			atomic.StoreUint32(word, all&^(mask<<up)|is<<up)
			return was
		}
		if atomic.CompareAndSwapUint32(word, all, all&^(mask<<up)|is<<up) {
			return was
		}
	}
}

// update16 updates an element of 16 bytes. The first two loads may see halves of different values:
// then the swap fails, and returns the current value.
func update16(p unsafe.Pointer, o op.Op, t op.Type, v [2]uint64) [2]uint64 {
	halves := (*[2]uint64)(p)
	was := [2]uint64{atomic.LoadUint64(&halves[0]), atomic.LoadUint64(&halves[1])}
	for {
		is := was
		if o != op.NoOp {
			op.Apply(o, t, octets(&is), octets(&is), octets(&v))
		}
		lo, hi := swap16(p, was[0], was[1], is[0], is[1])
		if lo == was[0] && hi == was[1] {
			return was
		}
		was = [2]uint64{lo, hi}
	}
}

func octets(v *[2]uint64) []byte { return (*[16]byte)(unsafe.Pointer(v))[:] }

// compareSwap stores the element in data at p if the element there equals the one in compare, and stores the
// previous element in old.
func compareSwap(p unsafe.Pointer, size int, data, compare, old []byte) {
	switch size {
	case 8:
		store(old, compareSwap8((*uint64)(p), value[uint64](op.Replace, compare), value[uint64](op.Replace, data)))
	case 4:
		store(old, compareSwap4((*uint32)(p), value[uint32](op.Replace, compare), value[uint32](op.Replace, data)))
	case 2:
		store(old, uint16(compareSwapSmall(p, 16, uint32(value[uint16](op.Replace, compare)), uint32(value[uint16](op.Replace, data)))))
	case 1:
		store(old, uint8(compareSwapSmall(p, 8, uint32(compare[0]), uint32(data[0]))))
	default:
		c, v := value[[2]uint64](op.Replace, compare), value[[2]uint64](op.Replace, data)
		lo, hi := swap16(p, c[0], c[1], v[0], v[1])
		store(old, [2]uint64{lo, hi})
	}
}

// compareSwap8 returns the previous value. The load after a failed swap may see compare, if another process
// has stored it meanwhile; then it tries again.
func compareSwap8(p *uint64, compare, v uint64) uint64 {
	for {
		if atomic.CompareAndSwapUint64(p, compare, v) {
			return compare
		}
		if was := atomic.LoadUint64(p); was != compare {
			return was
		}
	}
}

func compareSwap4(p *uint32, compare, v uint32) uint32 {
	for {
		if atomic.CompareAndSwapUint32(p, compare, v) {
			return compare
		}
		if was := atomic.LoadUint32(p); was != compare {
			return was
		}
	}
}

func compareSwapSmall(p unsafe.Pointer, bits uint, compare, v uint32) uint32 {
	word, up := around(p)
	mask := uint32(1)<<bits - 1
	for {
		all := atomic.LoadUint32(word)
		if was := all >> up & mask; was != compare {
			return was
		}
		if atomic.CompareAndSwapUint32(word, all, all&^(mask<<up)|v<<up) {
			return compare
		}
	}
}
