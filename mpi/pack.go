package mpi

import (
	"math"
	"slices"
)

// Pack appends the data of a Buffer to dst, without gaps: as many bytes as b.Bytes,
// in the representation of this machine. With an error dst is returned as it was.
// What has been packed piece by piece is sent as elements of Packed, and can be
// received as what it is made of.
//
// C: MPI_Pack, section 5.2.
func Pack(dst []byte, b Buffer) ([]byte, error) {
	if err := b.flaw("Pack"); err != nil {
		return dst, err
	}
	n := int(b.b.Size())
	dst = slices.Grow(dst, n)
	b.b.Pack(dst[len(dst):len(dst)+n], 0)
	return dst[:len(dst)+n], nil
}

// Unpack takes the data of a Buffer from the beginning of src, in the form that Pack
// gives it, and returns the rest of src. If src is too short that is ErrTruncate,
// and nothing is written.
//
// C: MPI_Unpack, section 5.2.
func Unpack(src []byte, b Buffer) (rest []byte, err error) {
	const call = "Unpack"
	if err := b.unpackable(call); err != nil {
		return src, err
	}
	n := b.b.Size()
	if n > int64(len(src)) {
		return src, fail(ErrTruncate, call, nil, "%s take %d bytes, there are %d", b.b.Type().Describe(b.b.Count()), n, len(src))
	}
	b.b.Unpack(src[:n], 0)
	return src[n:], nil
}

// PackSize is the number of bytes that Pack appends for count elements of a type.
//
// C: MPI_Pack_size, section 5.2.
func PackSize(count int, d Datatype) (int, error) {
	const call = "PackSize"
	t, err := d.use(call)
	switch {
	case err != nil:
		return 0, err
	case count < 0:
		return 0, typeError(ErrCount, call, t, "count %d is negative", count)
	case t.Size() > 0 && int64(count) > math.MaxInt64/t.Size():
		return 0, typeError(ErrValueTooLarge, call, t, "%d elements of %d bytes exceed 64 bits", count, t.Size())
	}
	return count * int(t.Size()), nil
}

// PackExternal is Pack in a representation that does not depend on the machine,
// external32: big-endian, with sizes that the standard fixes. Of a number that has
// fewer bytes there, as MPI_LONG has, the low ones count.
//
// C: MPI_Pack_external, section 5.3.
func PackExternal(dst []byte, b Buffer) ([]byte, error) {
	const call = "PackExternal"
	if err := b.flaw(call); err != nil {
		return dst, err
	}
	n, err := b.external(call)
	if err != nil || n == 0 {
		return dst, raise(err)
	}
	dst = slices.Grow(dst, n)
	if _, err := b.b.PackExternal(dst[len(dst) : len(dst)+n]); err != nil {
		return dst, typesError(call, err)
	}
	return dst[:len(dst)+n], nil
}

// UnpackExternal is Unpack of what PackExternal has made.
//
// C: MPI_Unpack_external, section 5.3.
func UnpackExternal(src []byte, b Buffer) (rest []byte, err error) {
	const call = "UnpackExternal"
	if err := b.unpackable(call); err != nil {
		return src, err
	}
	n, failed := b.external(call)
	if failed != nil || n == 0 {
		return src, raise(failed)
	}
	if _, err := b.b.UnpackExternal(src); err != nil {
		return src, typesError(call, err)
	}
	return src[n:], nil
}

// PackExternalSize is the number of bytes that PackExternal appends for count
// elements of a type.
//
// C: MPI_Pack_external_size, section 5.3.
func PackExternalSize(count int, d Datatype) (int, error) {
	const call = "PackExternalSize"
	t, err := d.use(call)
	if err != nil {
		return 0, err
	}
	n, failed := t.ExternalSize(int64(count))
	if failed != nil {
		return 0, typesError(call, failed)
	}
	return int(n), nil
}

// flaw is what is wrong with a buffer that data is taken from, for a call that
// communicates nothing. The error is raised.
func (b *Buffer) flaw(call string) *Error {
	if b.err == nil {
		return nil
	}
	return typesError(call, b.err)
}

// unpackable is flaw of a buffer that data is put into: no byte may be there twice.
func (b *Buffer) unpackable(call string) *Error {
	if b.err == nil && b.b.Overlaps() {
		return fail(ErrType, call, nil, "%s: bytes of memory occur twice, and are to be written", b.b.Type().Describe(b.b.Count()))
	}
	return b.flaw(call)
}

// external is the size of the data in external32.
func (b *Buffer) external(call string) (int, *Error) {
	if b.b.Type() == nil { // the zero Buffer
		return 0, nil
	}
	n, err := b.b.Type().ExternalSize(b.b.Count())
	if err != nil {
		return 0, typesError(call, err)
	}
	return int(n), nil
}
