package mpi

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Pack appends the data of a Buffer to dst, without gaps: as many bytes as b.Bytes,
// in the representation of this machine. With an error dst is returned as it was.
// What has been packed piece by piece is sent as elements of Packed, and can be
// received as what it is made of.
//
// C: MPI_Pack, section 5.2.
func Pack(dst []byte, b Buffer) ([]byte, error) { return packing{call: "Pack"}.pack(dst, &b) }

// Pack is the function Pack, whose errors are raised on c.
//
// C: MPI_Pack, section 5.2.
func (c *Comm) Pack(dst []byte, b Buffer) ([]byte, error) {
	if err := c.usable(callPack); err != nil {
		return dst, err
	}
	return packing{"Pack", c}.pack(dst, &b)
}

// PackTo packs count elements of d at p to the beginning of dst and returns how many bytes those
// are. It returns -1, and has done nothing, if an argument is wrong or c is in checking mode: then the
// caller uses Pack. It is for bindings of other languages, which know memory by address.
//
// C: MPI_Pack, section 5.2.
func (internals) PackTo(c *Comm, dst []byte, p unsafe.Pointer, count int, d Datatype) int {
	var b Buffer
	if b.at(p, count, d); !b.fits(c, dst) {
		return -1
	}
	return b.b.PackAll(dst)
}

// Unpack takes the data of a Buffer from the beginning of src, in the form that Pack
// gives it, and returns the rest of src. If src is too short that is ErrTruncate,
// and nothing is written.
//
// C: MPI_Unpack, section 5.2.
func Unpack(src []byte, b Buffer) (rest []byte, err error) {
	return packing{call: "Unpack"}.unpack(src, &b)
}

// Unpack is the function Unpack, whose errors are raised on c.
//
// C: MPI_Unpack, section 5.2.
func (c *Comm) Unpack(src []byte, b Buffer) (rest []byte, err error) {
	if err := c.usable(callUnpack); err != nil {
		return src, err
	}
	return packing{"Unpack", c}.unpack(src, &b)
}

// UnpackFrom is PackTo for Unpack: it takes the data from the beginning of src.
//
// C: MPI_Unpack, section 5.2.
func (internals) UnpackFrom(c *Comm, src []byte, p unsafe.Pointer, count int, d Datatype) int {
	var b Buffer
	if b.at(p, count, d); !b.fits(c, src) || b.b.Overlaps() {
		return -1
	}
	return b.b.UnpackAll(src)
}

// fits reports whether b is right, has at most as many bytes as packed, and can be packed without
// the checks of c.
func (b *Buffer) fits(c *Comm, packed []byte) bool {
	return b.err == nil && b.b.Size() <= int64(len(packed)) && c.plain()
}

// plain reports whether nothing is to be said of calls on c that do not communicate.
func (c *Comm) plain() bool { return c != nil && !c.freed.Load() && !c.w.SlowPath() }

// PackSize is the number of bytes that Pack appends for count elements of a type.
//
// C: MPI_Pack_size, section 5.2.
func PackSize(count int, d Datatype) (int, error) { return packing{call: "PackSize"}.size(count, d) }

// PackSize is the function PackSize, whose errors are raised on c.
//
// C: MPI_Pack_size, section 5.2.
func (c *Comm) PackSize(count int, d Datatype) (int, error) {
	if err := c.usable(callPackSize); err != nil {
		return 0, err
	}
	return packing{"PackSize", c}.size(count, d)
}

// packing is a call that packs or unpacks, and whose error handler is asked: nil is that
// of calls without communicator.
type packing struct {
	call string
	comm *Comm
}

// fails raises an error of the engine.
func (p packing) fails(err error) error { return typesErrorOn(p.comm, p.call, err) }

// failsOf raises an error that concerns a type: that is the object where there is no
// communicator.
func (p packing) failsOf(t *dtype.Type, cl Class, format string, args ...any) error {
	if p.comm == nil {
		return typeError(cl, p.call, t, format, args...)
	}
	return fail(cl, p.call, p.comm, "%s: "+format, append([]any{t}, args...)...)
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
		return src, fail(ErrTruncate, p.call, p.comm, "%s take %d bytes, but only %d are left", b.b.Type().Describe(b.b.Count()), n, len(src))
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

// PackExternal is Pack in a representation that does not depend on the machine,
// external32: big-endian, with sizes that the standard fixes. Of a number that has
// fewer bytes there, as MPI_LONG has, the low ones count.
//
// C: MPI_Pack_external, section 5.3.
func PackExternal(dst []byte, b Buffer) ([]byte, error) {
	const call = "PackExternal"
	if b.err != nil {
		return dst, typesError(call, b.err)
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
	if flaw := b.unpackable(); flaw != nil {
		return src, typesError(call, flaw)
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

// unpackable is what is wrong with a buffer that data is put into: no byte may be there
// twice, either. The error is the engine's.
func (b *Buffer) unpackable() error {
	if b.err == nil && b.b.Overlaps() {
		return &class.Error{Class: class.Type, Text: b.b.Type().Describe(b.b.Count()) + " cannot be unpacked into: bytes of memory occur twice in it"}
	}
	return b.err
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
