package op

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Form passes operands, which travel packed, to an operation of the program as elements of a
// datatype in memory: at the distance of the extent, with gaps whose contents are undefined.
//
// If the packed form of the datatype equals its layout in memory, the operation gets the
// operands without a copy. Otherwise they are unpacked, some elements at a time, into memory
// that the Form keeps. Rejected: messages that contain the gaps, since members may have
// different layouts of one signature. A Form serves one operation at a time.
type Form struct {
	t     *dtype.Type
	align int64 // of displacement 0

	// The memory for operands that are unpacked.
	most    int64 // the number of elements that fit
	origin  int64 // of displacement 0
	size    int64 // bytes
	scratch [2][]byte
}

const (
	// formRoom is the most memory of an unpacked operand of several elements, in bytes: both
	// operands and their packed forms fit into the cache.
	formRoom = 16 << 10
	// formAlign is the alignment of displacement 0 in bytes, more than any type of C or Go
	// requires.
	formAlign = 64
)

// NewForm makes the form of elements of t. The bytes of one element must not overlap.
func NewForm(t *dtype.Type) *Form {
	f := &Form{t: t, align: t.Align(), most: 1}
	lo, span := t.TrueExtent()
	_, extent := t.Extent()
	hi := lo + span
	if step := max(extent, -extent); step >= span { // otherwise elements overlap
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
	// The memory includes the last element up to its extent, so that all elements can be used as
	// one array.
	f.size = max(f.origin+hi, f.origin+f.most*extent)
	return f
}

// Apply calls fn with all elements of two packed operands, in order, some at a time. fn changes
// inout, and does not keep in or inout.
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

// bind returns n elements in memory that has room for them.
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

// alignedMemory returns n bytes that begin at a multiple of formAlign.
func alignedMemory(n int64) []byte {
	b := make([]byte, n+formAlign)
	skip := -uintptr(unsafe.Pointer(&b[0])) % formAlign
	return b[skip:][:n:n]
}
