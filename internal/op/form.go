package op

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Form puts operands, which travel packed, before an operation of the program as
// elements of a datatype in memory: an extent apart, with gaps, in which is anything.
//
// Where the packed form is that of memory the operation gets the operands where they
// are. Else they are unpacked, some elements at a time, to memory that the Form keeps:
// rejected was to let them travel with their gaps, since members may have different
// layouts of one signature. A Form serves one operation at a time.
type Form struct {
	t     *dtype.Type
	align int64 // of displacement 0

	// Of the memory for operands that do not lie as the datatype does.
	most    int64 // elements that there is room for
	origin  int64 // of displacement 0
	size    int64 // bytes
	scratch [2][]byte
}

const (
	// formRoom is how much memory an operand of several elements takes at most, in
	// bytes: with the other one and what they are packed to it fits into the cache.
	formRoom = 16 << 10
	// formAlign is the alignment of displacement 0 in bytes, more than any type of C
	// or Go asks for.
	formAlign = 64
)

// NewForm makes the form of elements of t. Bytes of one element do not overlap.
func NewForm(t *dtype.Type) *Form {
	f := &Form{t: t, align: t.Align(), most: 1}
	lo, span := t.TrueExtent()
	_, extent := t.Extent()
	hi := lo + span
	if step := max(extent, -extent); step >= span { // else elements reach into each other
		f.most = max(1, (formRoom-span)/max(step, 1)+1)
	}
	if far := (f.most - 1) * extent; far < 0 {
		lo += far
	} else {
		hi += far
	}
	f.origin = -lo &^ (formAlign - 1)
	if f.origin < -lo {
		f.origin += formAlign
	}
	// What lies behind the last element, up to its extent, is memory, too, so that all
	// can be seen as one array.
	f.size = max(f.origin+hi, f.origin+f.most*extent)
	return f
}

// Apply calls fn with all elements of two packed operands, in order, some at a time:
// fn changes inout, and does not keep either.
func (f *Form) Apply(in, inout []byte, fn func(in, inout dtype.Buffer)) {
	n, packed := int64(len(inout))/f.t.Size(), f.t.Size()
	if f.t.Dense() && f.aligned(in) && f.aligned(inout) {
		fn(f.bind(in, 0, n), f.bind(inout, 0, n))
		return
	}
	if f.scratch[0] == nil {
		f.scratch = [2][]byte{alignedMemory(f.size), alignedMemory(f.size)}
	}
	for n > 0 {
		k := min(n, f.most)
		x, y := f.bind(f.scratch[0], f.origin, k), f.bind(f.scratch[1], f.origin, k)
		x.Unpack(in[:k*packed], 0)
		y.Unpack(inout[:k*packed], 0)
		fn(x, y)
		y.Pack(inout[:k*packed], 0)
		in, inout, n = in[k*packed:], inout[k*packed:], n-k
	}
}

// bind is n elements in memory that has room for them.
func (f *Form) bind(mem []byte, origin, n int64) dtype.Buffer {
	b, err := dtype.Bind(mem, origin, f.t, n)
	if err != nil {
		panic("op: " + err.Error())
	}
	return b
}

func (f *Form) aligned(b []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(f.align) == 0
}

// alignedMemory is n bytes that begin at a multiple of formAlign.
func alignedMemory(n int64) []byte {
	b := make([]byte, n+formAlign)
	skip := -uintptr(unsafe.Pointer(&b[0])) % formAlign
	return b[skip:][:n:n]
}
