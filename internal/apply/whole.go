package apply

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
)

// A process may be killed between any two instructions, and must not leave half of an element of
// up to 16 bytes (promise F2). Go stores each number by one instruction, and copies split only
// between numbers. But an element that is composed of several numbers may be stored number by
// number, or be split by a copy, since its alignment is less than its size. Therefore such
// elements are computed in a buffer, and then stored by one instruction each.

// composed reports whether elements consist of several numbers, and are narrow enough that a kill
// must not leave half of one.
func composed(t op.Type, size int) bool {
	switch t {
	case op.Complex32, op.Complex64, op.Complex128, op.Int128, op.Bool128, op.Float80, op.Float128:
		return true
	}
	value, _ := t.Parts()
	return value != 0 && size <= 16
}

// combine carries out an operation on composed elements.
func (r *Region) combine(o op.Op, t op.Type, size int, mem, data []byte) {
	gaps := t.Gaps()
	if o == op.Replace && !gaps {
		storeWhole(mem, data, size)
		return
	}
	var beside [1 << 10]byte // stays in the first-level cache
	for len(mem) > 0 {
		n := min(len(mem), len(beside))
		if gaps {
			copy(beside[:n], mem) // the bytes in the gaps are stored as they are
		}
		r.Kernel.Apply(o, t, beside[:n], mem[:n], data[:n])
		storeWhole(mem[:n], beside[:n], size)
		mem, data = mem[n:], data[n:]
	}
}

// storeWhole copies elements of 4, 8 or 16 bytes by one instruction each, and others by several.
func storeWhole(dst, src []byte, size int) {
	p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[:len(dst)][0])
	if planted.HalvesStored && size == 16 {
		size = 8
	}
	switch size {
	case 16:
		for i := 0; i < len(dst); i += 16 {
			*(*[16]byte)(unsafe.Add(p, i)) = *(*[16]byte)(unsafe.Add(q, i))
		}
	case 8:
		for i := 0; i < len(dst); i += 8 {
			*(*uint64)(unsafe.Add(p, i)) = *(*uint64)(unsafe.Add(q, i))
		}
	case 4:
		for i := 0; i < len(dst); i += 4 {
			*(*uint32)(unsafe.Add(p, i)) = *(*uint32)(unsafe.Add(q, i))
		}
	default:
		copy(dst, src)
	}
}
