package op

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

//go:generate go run ./gen .

// Kernel is how operations on long slices are carried out: by the loops of Apply,
// or by vector instructions where there are some for the operation and the type.
// All give the same bits, NaNs included.
type Kernel uint8

// The kernels. The zero Kernel is always there.
const (
	Loops Kernel = iota
	AVX2
	AVX512 // F, BW and DQ
	NEON
	kernels
)

// KernelEnv is the environment variable that chooses a kernel.
const KernelEnv = "HALO_OP_KERNEL"

// String is the name of the kernel, as in KernelEnv.
func (k Kernel) String() string {
	switch k {
	case Loops:
		return "go"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return "no kernel"
}

// Kernels lists those that this machine has, the best one last. The race detector
// does not see what assembly does: under it there are only the loops.
func Kernels() []Kernel {
	list := []Kernel{Loops}
	switch {
	case sys.Race:
	case runtime.GOARCH == "amd64":
		if sys.HasAVX2() {
			list = append(list, AVX2)
			if sys.HasAVX512() {
				list = append(list, AVX512)
			}
		}
	case runtime.GOARCH == "arm64":
		list = append(list, NEON) // part of the architecture
	}
	return list
}

// BestKernel is the last of Kernels.
func BestKernel() Kernel {
	list := Kernels()
	return list[len(list)-1]
}

// ParseKernel returns the kernel of that name, the best one for "". One that this
// machine has not is an error.
func ParseKernel(name string) (Kernel, error) {
	if name == "" {
		return BestKernel(), nil
	}
	var here []string
	for _, k := range Kernels() {
		if k.String() == name {
			return k, nil
		}
		here = append(here, k.String())
	}
	for k := Loops; k < kernels; k++ {
		if k.String() == name {
			why := "this machine has"
			if sys.Race {
				why = "a program built with -race has"
			}
			return Loops, fmt.Errorf("no %s here: %s %s", name, why, strings.Join(here, ", "))
		}
	}
	return Loops, fmt.Errorf("%q is none of go, avx2, avx512, neon", name)
}

// Covers reports whether k has vector instructions for the operation on the type.
func (k Kernel) Covers(o Op, t Type) bool {
	var none [1]byte
	return k.vector(o, t, &none[0], &none[0], &none[0], 0)
}

// tableSize is how many kernels a machine can have: that of o and t is number o<<4 | t.
const tableSize = int(Bxor+1) << 4

// Function is the address of the vector instructions of k for the operation on the type, for
// code in C: of a function (dst, a, b *byte, n int) in assembly, all of whose arguments are in
// memory, and which needs nothing of Go. n is a number of bytes, a multiple of 64. It is 0 where
// there is none, and where C has no way to call it: on arm64.
func (k Kernel) Function(o Op, t Type) uintptr {
	var table [tableSize]uintptr
	if o > Bxor || t > Byte {
		return 0
	}
	k.addresses(&table)
	return table[int(o)<<4|int(t)]
}

const (
	// Block is a multiple of the length of every vector, in bytes.
	Block = 64
	// few is up to how many bytes a loop is as fast as a kernel is called.
	few = 32
)

// SweepPiece is how many bytes go up in one piece, while the pieces may go down; a part of
// the first cache.
const SweepPiece = 8 << 10

// Apply is the function Apply, by vectors as far as k has them. What exceeds the first cache
// is gone through alternately up and down (sys.SweepDown).
func (k Kernel) Apply(o Op, t Type, dst, left, right []byte) {
	if len(dst) <= 2*SweepPiece {
		k.applyUp(o, t, dst, left, right)
		return
	}
	pieces := (len(dst) + SweepPiece - 1) / SweepPiece
	i, step := 0, 1
	if sys.SweepDown(unsafe.Pointer(&dst[0])) {
		i, step = pieces-1, -1
	}
	for range pieces {
		from, to := i*SweepPiece, min((i+1)*SweepPiece, len(dst))
		k.applyUp(o, t, dst[from:to], left[from:to], right[from:to])
		i += step
	}
}

func (k Kernel) applyUp(o Op, t Type, dst, left, right []byte) {
	n := len(dst) &^ (Block - 1)
	if n == 0 || k == Loops {
		k.applyRest(o, t, dst, left, right)
		return
	}
	if !k.vector(o, t, &dst[0], &left[0], &right[0], n) {
		Apply(o, t, dst, left, right)
		return
	}
	if n < len(dst) {
		k.applyRest(o, t, dst[n:], left[n:], right[n:])
	}
}

// Whole does n bytes if that are whole blocks and k has vectors for them, and reports
// whether it did. It only has for what Check accepts: who calls this first saves the
// short operation half of its way.
func (k Kernel) Whole(o Op, t Type, dst, left, right *byte, n int) bool {
	return n&(Block-1) == 0 && k.vector(o, t, dst, left, right, n)
}

// applyRest does less than a block, by copies of a whole one: behind the end is not
// our memory.
func (k Kernel) applyRest(o Op, t Type, dst, left, right []byte) {
	if k == Loops || len(dst) <= few {
		Apply(o, t, dst, left, right)
		return
	}
	var x, y [Block]byte
	copy(x[:], left)
	copy(y[:], right)
	if !k.vector(o, t, &x[0], &x[0], &y[0], Block) {
		Apply(o, t, dst, left, right)
		return
	}
	copy(dst, x[:])
}
