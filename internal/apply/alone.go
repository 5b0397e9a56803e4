package apply

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/op"
)

// alone is element for the writer of the stripe, for elements of at most 8 bytes. The writer
// excludes all other processes, so that no operation needs to be atomic.
func alone(p unsafe.Pointer, size int, o op.Op, t op.Type, data, old []byte) {
	switch size {
	case 8:
		combineAlone((*uint64)(p), o, t, data, old)
	case 4:
		combineAlone((*uint32)(p), o, t, data, old)
	case 2:
		combineAlone((*uint16)(p), o, t, data, old)
	default:
		combineAlone((*uint8)(p), o, t, data, old)
	}
}

type word interface {
	uint8 | uint16 | uint32 | uint64
}

func combineAlone[T word](p *T, o op.Op, t op.Type, data, old []byte) {
	was, v := *p, value[T](o, data)
	switch {
	case o == op.NoOp:
	case o == op.Replace && !t.Gaps():
		*p = v
	case o == op.Sum && op.Int8 <= t && t <= op.Uint64:
		*p = was + v
	default:
		*p = T(op.Word(o, t, uint64(was), uint64(v)))
	}
	if old != nil {
		store(old, was)
	}
}

// compareSwapAlone is compareSwap for the writer of the stripe.
func compareSwapAlone(p unsafe.Pointer, size int, data, compare, old []byte) {
	switch size {
	case 8:
		exchangeAlone((*uint64)(p), data, compare, old)
	case 4:
		exchangeAlone((*uint32)(p), data, compare, old)
	case 2:
		exchangeAlone((*uint16)(p), data, compare, old)
	default:
		exchangeAlone((*uint8)(p), data, compare, old)
	}
}

func exchangeAlone[T word](p *T, data, compare, old []byte) {
	was := *p
	if was == value[T](op.Replace, compare) {
		*p = value[T](op.Replace, data)
	}
	store(old, was)
}
