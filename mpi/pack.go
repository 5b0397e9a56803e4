package mpi

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Pack appends the data of a Buffer to dst without gaps: b.Bytes() bytes, in the representation
// of this machine. If it fails, it returns dst unchanged. Data that was packed piece by piece
// can be sent as elements of Packed, and received with the types of the pieces.
//
// C: MPI_Pack, section 5.2.
func Pack(dst []byte, b Buffer) ([]byte, error) { return packing{by: call.Pack}.pack(dst, &b) }

// Pack is the function Pack with errors that are raised on c.
//
// C: MPI_Pack, section 5.2.
func (c *Comm) Pack(dst []byte, b Buffer) ([]byte, error) {
	if err := c.usable(call.Pack); err != nil {
		return dst, err
	}
	return packing{call.Pack, c}.pack(dst, &b)
}

// PackTo packs count elements of d at p to the beginning of dst and returns the number of bytes.
// It returns -1 without having done anything if an argument is invalid or c is in checking mode;
// then the caller uses Pack. It exists for bindings for other languages, which have addresses of
// memory.
//
// C: MPI_Pack, section 5.2.
func (internals) PackTo(c *Comm, dst []byte, p unsafe.Pointer, count int, d Datatype) int {
	var b Buffer
	b.at(p, count, d)
	if !b.fits(c, dst) {
		return -1
	}
	return b.b.PackAll(dst)
}

// Unpack copies the data of a Buffer from the beginning of src, where it has the form that Pack
// gave it, and returns the rest of src. ErrTruncate if src is too short; then nothing is
// written.
//
// C: MPI_Unpack, section 5.2.
func Unpack(src []byte, b Buffer) (rest []byte, err error) {
	return packing{by: call.Unpack}.unpack(src, &b)
}

// Unpack is the function Unpack with errors that are raised on c.
//
// C: MPI_Unpack, section 5.2.
func (c *Comm) Unpack(src []byte, b Buffer) (rest []byte, err error) {
	if err := c.usable(call.Unpack); err != nil {
		return src, err
	}
	return packing{call.Unpack, c}.unpack(src, &b)
}

// UnpackFrom is PackTo for Unpack: it reads the data from the beginning of src.
//
// C: MPI_Unpack, section 5.2.
func (internals) UnpackFrom(c *Comm, src []byte, p unsafe.Pointer, count int, d Datatype) int {
	var b Buffer
	b.at(p, count, d)
	if !b.fits(c, src) || b.b.Overlaps() {
		return -1
	}
	return b.b.UnpackAll(src)
}

// fits reports whether b is valid, its data fits into packed, and it can be packed without the
// checks of c.
func (b *Buffer) fits(c *Comm, packed []byte) bool {
	return b.err == nil && b.b.Size() <= int64(len(packed)) && c.plain()
}

// plain reports whether calls on c that do not communicate need no check of c.
func (c *Comm) plain() bool { return c != nil && !c.freed.Load() && !c.w.SlowPath() }

// PackSize is the number of bytes that Pack appends for count elements of a type.
//
// C: MPI_Pack_size, section 5.2.
func PackSize(count int, d Datatype) (int, error) { return packing{by: call.PackSize}.size(count, d) }

// PackSize is the function PackSize with errors that are raised on c.
//
// C: MPI_Pack_size, section 5.2.
func (c *Comm) PackSize(count int, d Datatype) (int, error) {
	if err := c.usable(call.PackSize); err != nil {
		return 0, err
	}
	return packing{call.PackSize, c}.size(count, d)
}

// packing is a call that packs or unpacks, with the communicator whose error handler gets its
// errors; nil for calls without communicator.
type packing struct {
	by   call.Number
	comm *Comm
}

// fails raises an error of the engine.
func (p packing) fails(err error) error { return typesErrorOn(p.comm, p.by, err) }

// failsOf raises an error about a type; the type is the object of the error if there is no
// communicator.
func (p packing) failsOf(t *dtype.Type, cl Class, format string, args ...any) error {
	if p.comm == nil {
		return typeError(cl, p.by, t, format, args...)
	}
	return fail(cl, p.by, p.comm, "%s: "+format, append([]any{t}, args...)...)
}

func (p packing) pack(dst []byte, b *Buffer) ([]byte, error) {
	if b.err != nil {
		return dst, p.fails(b.err)
	}
	n := int(b.b.Size())
	dst = slices.Grow(dst, n)
	b.b.PackAll(dst[len(dst) : len(dst)+n])
	return dst[:len(dst)+n], nil
}

func (p packing) unpack(src []byte, b *Buffer) (rest []byte, err error) {
	n := b.b.Size()
	switch flaw := b.unpackable(); {
	case flaw != nil:
		return src, p.fails(flaw)
	case n > int64(len(src)):
		return src, fail(ErrTruncate, p.by, p.comm, "%s take %d bytes, but only %d are left", b.b.Type().Describe(b.b.Count()), n, len(src))
	}
	b.b.UnpackAll(src)
	return src[n:], nil
}

func (p packing) size(count int, d Datatype) (int, error) {
	t, err := d.engine()
	switch {
	case err != nil:
		return 0, p.fails(err)
	case count < 0:
		return 0, p.failsOf(t, ErrCount, "count %d is negative", count)
	case t.Size() > 0 && int64(count) > math.MaxInt64/t.Size():
		return 0, p.failsOf(t, ErrValueTooLarge, "%d elements of %d bytes exceed 64 bits", count, t.Size())
	}
	return count * int(t.Size()), nil
}

// PackExternal is Pack in the machine-independent representation external32: big-endian, with
// sizes that the standard defines. Of a number that has fewer bytes in external32, such as
// MPI_LONG, it packs the low-order bytes.
//
// C: MPI_Pack_external, section 5.3.
func PackExternal(dst []byte, b Buffer) ([]byte, error) {
	const by = call.PackExternal
	if b.err != nil {
		return dst, typesError(by, b.err)
	}
	n, err := b.external(by)
	if err != nil || n == 0 {
		return dst, raise(err)
	}
	dst = slices.Grow(dst, n)
	if _, err := b.b.PackExternal(dst[len(dst) : len(dst)+n]); err != nil {
		return dst, typesError(by, err)
	}
	return dst[:len(dst)+n], nil
}

// UnpackExternal is Unpack for data of PackExternal.
//
// C: MPI_Unpack_external, section 5.3.
func UnpackExternal(src []byte, b Buffer) (rest []byte, err error) {
	const by = call.UnpackExternal
	if flaw := b.unpackable(); flaw != nil {
		return src, typesError(by, flaw)
	}
	n, failed := b.external(by)
	if failed != nil || n == 0 {
		return src, raise(failed)
	}
	if _, err := b.b.UnpackExternal(src); err != nil {
		return src, typesError(by, err)
	}
	return src[n:], nil
}

// PackExternalSize is the number of bytes that PackExternal appends for count
// elements of a type.
//
// C: MPI_Pack_external_size, section 5.3.
func PackExternalSize(count int, d Datatype) (int, error) {
	const by = call.PackExternalSize
	t, err := d.use(by)
	if err != nil {
		return 0, err
	}
	n, failed := t.ExternalSize(int64(count))
	if failed != nil {
		return 0, typesError(by, failed)
	}
	return int(n), nil
}

// unpackable returns the error of a Buffer that cannot be unpacked into, because it is invalid
// or bytes occur twice in it. The error is the engine's.
func (b *Buffer) unpackable() error {
	if b.err == nil && b.b.Overlaps() {
		return &class.Error{Class: class.Type, Text: b.b.Type().Describe(b.b.Count()) + " cannot be unpacked into: bytes of memory occur twice in it"}
	}
	return b.err
}

// external is the size in bytes of the data in external32.
func (b *Buffer) external(by call.Number) (int, *Error) {
	if b.b.Type() == nil { // the zero Buffer
		return 0, nil
	}
	n, err := b.b.Type().ExternalSize(b.b.Count())
	if err != nil {
		return 0, typesError(by, err)
	}
	return int(n), nil
}
