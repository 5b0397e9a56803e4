package op

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

//go:generate go run ./gen .

// Kernel is how operations on long slices are carried out: by the loops of Apply, or by vector
// instructions if there are some for the operation and the type. All kernels give the same bits,
// also of NaNs.
type Kernel uint8

// The kernels. The zero Kernel, Loops, is available on all machines.
const (
	Loops Kernel = iota
	AVX2
	AVX512 // F, BW and DQ
	NEON
	kernels
)

// KernelEnv is the environment variable that chooses a kernel.
const KernelEnv = "HALO_OP_KERNEL"

// String returns the name of the kernel, as in KernelEnv.
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

// Kernels lists the kernels of this machine, the best one last. Under the race detector, which
// does not see the accesses of assembly, there are only the loops.
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

// BestKernel returns the last of Kernels.
func BestKernel() Kernel {
	list := Kernels()
	return list[len(list)-1]
}

// ParseKernel returns the kernel of that name, the best one for "". It returns an error for a
// kernel that this machine does not have.
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

// tableSize is the length of a table of the kernels of a machine: the kernel of o and t is
// number o<<4 | t.
const tableSize = int(Bxor+1) << 4

// Function returns the address of the vector instructions of k for the operation on the type,
// for code in C: a function (dst, a, b *byte, n int) in assembly, which takes all arguments in
// memory and does not need the Go runtime. n is a number of bytes, a multiple of 64. It returns
// 0 if there is no such function, and on arm64, where C has no way to call it.
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
	// few is the number of bytes up to which a loop is as fast as a call of a kernel.
	few = 32
)

// SweepPiece is the length in bytes of pieces that are each processed upwards, even if the
// sequence of pieces goes down. It is a part of the first-level cache.
const SweepPiece = 8 << 10

// Apply is the function Apply, with vectors as far as k has them. It processes memory longer
// than the first-level cache alternately up and down (sys.SweepDown).
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

// Whole carries out the operation on n bytes if n is a number of whole blocks and k has vectors
// for the operation, and reports whether it did. It has vectors only for pairs of operation and
// type that Check accepts, so a caller can try Whole before it calls Check. This halves the time
// of a short operation.
func (k Kernel) Whole(o Op, t Type, dst, left, right *byte, n int) bool {
	return n&(Block-1) == 0 && k.vector(o, t, dst, left, right, n)
}

// applyRest processes less than a block in copies of a whole block, since the memory after the
// end may not be read or written.
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
