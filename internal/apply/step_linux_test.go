package apply

import (
	"os"
	"runtime"

	"github.com/halo-mpi/halo/internal/op"
)

func init() {
	if os.Getenv("HALO_APPLY_PROCESS") != "" {
		runtime.LockOSThread() // stay on the thread that is traced
	}
}

// operandStepped returns the operand of the update; the other operand is beforeStepped.
func operandStepped(s setting) []byte { return pattern(s, 250) }

// pattern returns elements. Integers differ in all bytes; reals and complex numbers are valid
// numbers.
func pattern(s setting, seed int) []byte {
	b := make([]byte, s.count*s.typ.Size())
	value, _ := s.typ.Parts()
	for i := 0; i < len(b); i += s.typ.Size() {
		switch e := b[i : i+s.typ.Size()]; {
		case isComplex(s.typ):
			half := len(e) / 2
			copy(e, number(s.typ, seed+i)[:half])
			copy(e[half:], number(s.typ, seed+i+1)[:half])
		case signByte(s.typ) != 0:
			copy(e, number(s.typ, seed+i))
		case value != 0:
			for k := range e {
				e[k] = byte(1 + k%4*seed%128)
			}
		default:
			for k := range e {
				e[k] = byte(seed + i + 7*k)
			}
		}
	}
	return b
}

// step makes one accumulate while the parent examines each instruction. The stack grows before,
// so that the parent sees only instructions of the accumulate.
func (m *memory) step(s setting) {
	data, o := operandStepped(s), op.Op(s.updates)
	m.each[s.me].started.Store(uint64(deep()))
	runtime.Breakpoint()
	m.region.Accumulate(0, o, s.typ, data, nil)
	m.each[s.me].done.Store(1)
	select {}
}

// deep uses more stack than the accumulate, so that the stack grows. It returns 1.
//
//go:noinline
func deep() int {
	var room [16 << 10]byte
	for i := range room {
		room[i] = byte(i)
	}
	return int(room[1])
}
