package apply

import (
	"os"
	"runtime"

	"github.com/halo-mpi/halo/internal/op"
)

func init() {
	if os.Getenv("HALO_APPLY_PROCESS") != "" {
		runtime.LockOSThread() // to the thread that is traced
	}
}

// operandStepped is what is combined with what stands in the region (beforeStepped).
func operandStepped(s setting) []byte { return pattern(s, 250) }

// pattern is elements that differ in every part, if they are integers, and are numbers
// else.
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

// step makes one accumulate, with the parent looking. The stack has grown before, so that
// only that is looked at.
func (m *memory) step(s setting) {
	data, o := operandStepped(s), op.Op(s.updates)
	m.each[s.me].started.Store(uint64(deep()))
	runtime.Breakpoint()
	m.region.Accumulate(0, o, s.typ, data, nil)
	m.each[s.me].done.Store(1)
	select {}
}

// deep needs more stack than what follows. It is 1.
//
//go:noinline
func deep() int {
	var room [16 << 10]byte
	for i := range room {
		room[i] = byte(i)
	}
	return int(room[1])
}
