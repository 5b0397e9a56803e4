package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// parcel is the packed memory of a call and the position in it, which is an input and output
// argument.
type parcel struct {
	memory   []byte
	position array
	at       int
}

// find fills in the memory at address and the position at which the call begins.
func (p *parcel) find(l *Lib, c *mpi.Comm, by call.Number, address uintptr, size int, position array) error {
	if position.null() {
		return l.failOn(c, mpi.ErrArg, by, "position is null")
	}
	p.position, p.at = position, position.get(0)
	switch memory := pointer(address); {
	case size < 0 || p.at < 0 || p.at > size:
		return l.failOn(c, mpi.ErrArg, by, "position %d in a buffer of %d bytes", p.at, size)
	case memory != nil:
		p.memory = unsafe.Slice((*byte)(memory), size)
	case size > 0:
		return l.failOn(c, mpi.ErrBuffer, by, "buffer of %d bytes at %#x", size, address)
	}
	return nil
}

// put lets pack append n bytes at the position, and advances it.
func (p *parcel) put(l *Lib, c *mpi.Comm, by call.Number, n int, pack func(dst []byte) ([]byte, error)) error {
	if free := len(p.memory) - p.at; n > free {
		return l.failOn(c, mpi.ErrTruncate, by, "%d bytes to pack, and %d of the buffer are left", n, free)
	}
	dst, err := pack(p.memory[:p.at])
	if err == nil {
		p.position.set(0, len(dst))
	}
	return err
}

// take lets unpack consume bytes from the position on, and advances it.
func (p *parcel) take(unpack func(src []byte) (rest []byte, err error)) error {
	rest, err := unpack(p.memory[p.at:])
	if err == nil {
		p.position.set(0, len(p.memory)-len(rest))
	}
	return err
}

// pack is MPI_Pack.
func (l *Lib) pack(a args) error {
	c, err := l.comm(a.word(6), call.Pack)
	if err != nil {
		return err
	}
	var p parcel
	if err := p.find(l, c, call.Pack, a.word(3), a.int(4), a.counts(5)); err != nil {
		return err
	}
	d := l.datatype(a.word(2))
	if n := engine.PackTo(c, p.memory[p.at:], a.result(0), a.int(1), d); n >= 0 {
		p.position.set(0, p.at+n)
		l.moved(a.word(2))
		return nil
	}
	return l.packBuffer(c, &p, a.word(0), a.int(1), d)
}

// moved allows C to move elements of a derived type, after Go has moved some.
func (l *Lib) moved(h handle) {
	if h > lastPredefined && l.types.opened != nil {
		l.types.hold(h, func(d mpi.Datatype) { l.typeRecords.moved(h, d) })
	}
}

// packBuffer is pack by a Buffer. It raises the errors of arguments that PackTo refuses.
func (l *Lib) packBuffer(c *mpi.Comm, p *parcel, address uintptr, count int, d mpi.Datatype) error {
	n, err := c.PackSize(count, d)
	if err != nil {
		return err
	}
	return p.put(l, c, call.Pack, n, func(dst []byte) ([]byte, error) { return c.Pack(dst, l.buf(address, count, d)) })
}

// unpack is MPI_Unpack.
func (l *Lib) unpack(a args) error {
	c, err := l.comm(a.word(6), call.Unpack)
	if err != nil {
		return err
	}
	var p parcel
	if err := p.find(l, c, call.Unpack, a.word(0), a.int(1), a.counts(2)); err != nil {
		return err
	}
	d := l.datatype(a.word(5))
	if n := engine.UnpackFrom(c, p.memory[p.at:], a.result(3), a.int(4), d); n >= 0 {
		p.position.set(0, p.at+n)
		l.moved(a.word(5))
		return nil
	}
	return l.unpackBuffer(c, &p, a.word(3), a.int(4), d)
}

// unpackBuffer is unpack by a Buffer. It raises the errors of arguments that UnpackFrom refuses.
func (l *Lib) unpackBuffer(c *mpi.Comm, p *parcel, address uintptr, count int, d mpi.Datatype) error {
	b := l.buf(address, count, d)
	return p.take(func(src []byte) ([]byte, error) { return c.Unpack(src, b) })
}

// external raises an error for data representations other than external32.
func (l *Lib) external(by call.Number, datarep string) error {
	if datarep != "external32" {
		return l.fail(mpi.ErrUnsupportedDatarep, by, "data representation %q, want external32", datarep)
	}
	return nil
}

// packExternal is MPI_Pack_external.
func (l *Lib) packExternal(a args) error {
	const by = call.PackExternal
	if err := l.external(by, text(a.word(0))); err != nil {
		return err
	}
	var p parcel
	if err := p.find(l, nil, by, a.word(4), a.int(5), a.longs(6)); err != nil {
		return err
	}
	d := l.datatype(a.word(3))
	n, err := mpi.PackExternalSize(a.int(2), d)
	if err != nil {
		return err
	}
	return p.put(l, nil, by, n, func(dst []byte) ([]byte, error) { return mpi.PackExternal(dst, l.buf(a.word(1), a.int(2), d)) })
}

// unpackExternal is MPI_Unpack_external.
func (l *Lib) unpackExternal(a args) error {
	if err := l.external(call.UnpackExternal, text(a.word(0))); err != nil {
		return err
	}
	var p parcel
	if err := p.find(l, nil, call.UnpackExternal, a.word(1), a.int(2), a.longs(3)); err != nil {
		return err
	}
	b := l.buf(a.word(4), a.int(5), l.datatype(a.word(6)))
	return p.take(func(src []byte) ([]byte, error) { return mpi.UnpackExternal(src, b) })
}

// packExternalSize is MPI_Pack_external_size.
func (l *Lib) packExternalSize(datarep string, count int, d mpi.Datatype) (int, error) {
	if err := l.external(call.PackExternalSize, datarep); err != nil {
		return 0, err
	}
	return mpi.PackExternalSize(count, d)
}
