package file

import (
	"math"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
)

// Data is the memory of an access, and the type of its elements: in representations other than native
// the elements are converted. Without a type the memory is bytes, which are the same in all.
type Data struct {
	mem.Mem
	Type *dtype.Type
}

// Representation is a form of data in files that the program has registered (MPI-5, 14.5.3). Its
// functions are the program's, and only the program's own threads call them.
type Representation struct {
	Name string
	// Extent is the number of bytes of an element of a predefined type in the file.
	Extent func(basic *dtype.Type) (int64, error)
	// Read and Write convert count basic elements between the packed data of the file and the elements
	// of b, from the basic element with number position on. nil: the forms are the same.
	Read, Write func(b *dtype.Buffer, file []byte, count, position int64) error
}

// external32 is the standard's representation.
func external32() *Representation { return &Representation{Name: External32} }

// standard reports whether r is external32.
func (r *Representation) standard() bool { return r.Extent == nil }

// function is the conversion function for accesses in a direction, nil if there is none.
func (r *Representation) function(d Direction) func(b *dtype.Buffer, file []byte, count, position int64) error {
	if d == Write {
		return r.Write
	}
	return r.Read
}

// inFile describes where elements of t are in the file.
func (r *Representation) inFile(t, bytes *dtype.Type) (*dtype.Type, error) {
	if r.standard() {
		return t.External(bytes)
	}
	return t.InFile(bytes, r.Extent)
}

// conversion is the data of one access in the representation of the file. Accesses of a view that
// converts move it as a whole, so that they are as fast as others but for the conversion.
//
// Rejected: conversion in pieces between system calls. It takes less memory, and every path of an
// access would need it a second time.
type conversion struct {
	r      *Representation
	native dtype.Buffer
	form   *dtype.Type // of an element in the file
	file   []byte
	d      Direction
}

// converted returns what moves between memory and the file instead of x: x itself, with no
// conversion, in a view that does not convert.
func (v *View) converted(d Direction, x Data) (mem.Mem, *conversion, error) {
	if v.converts == nil || x.Err() != nil || x.Len() == 0 || x.Type == nil {
		return x.Mem, nil, nil
	}
	b, err := x.Buffer(x.Type)
	if err != nil {
		return x.Mem, nil, err
	}
	t, err := v.converts.inFile(x.Type, v.bytes)
	if err != nil {
		return x.Mem, nil, err
	}
	if f := v.converts.function(d); !v.converts.standard() && f == nil && t.Size() != x.Type.Size() {
		return x.Mem, nil, class.Errorf(class.Conversion, "representation %q has no function for it, but an element of %s has %d bytes in memory and %d in the file",
			v.Rep, x.Type, x.Type.Size(), t.Size())
	}
	if t.Size() > math.MaxInt/max(b.Count(), 1) {
		return x.Mem, nil, class.Errorf(class.Count, "%s take more than %d bytes in the file", x.Type.Describe(b.Count()), math.MaxInt)
	}
	c := &conversion{v.converts, b, t, make([]byte, t.Size()*b.Count()), d}
	if d == Write {
		if err := c.write(); err != nil {
			return x.Mem, nil, err
		}
	}
	return mem.Of(c.file), c, nil
}

// write converts all elements for the file.
func (c *conversion) write() error {
	switch {
	case c.r.standard():
		_, err := c.native.PackExternal(c.file)
		return err
	case c.r.Write != nil:
		return c.called(c.r.Write(&c.native, c.file, c.basic(c.native.Count()), 0))
	}
	c.native.PackAll(c.file)
	return nil
}

// called is the error of a conversion function of the program.
func (c *conversion) called(err error) error {
	if err == nil {
		return nil
	}
	return class.Errorf(class.Conversion, "conversion function of representation %q: %w", c.r.Name, err)
}

// basic is the number of basic elements in n elements.
func (c *conversion) basic(n int64) int64 {
	t := c.native.Type()
	one, _ := t.Elements(t.Size())
	return n * one
}

// byProgram reports whether done calls a function of the program.
func (c *conversion) byProgram() bool { return c != nil && c.d == Read && c.r.Read != nil }

// done stores what has been read, n bytes in the file, and returns how many bytes of data that is in
// memory. The file may end within an element: of that one the basic elements count that the file has as a
// whole.
func (c *conversion) done(n int64, err error) (int64, error) {
	if c == nil || n == 0 || c.form.Size() == 0 {
		return n, err
	}
	t := c.native.Type()
	whole, part := n/c.form.Size(), n%c.form.Size()
	if planted.ElementRounded && part > 0 && c.r.standard() {
		whole, part = whole+1, 0
	}
	elements, bytes := t.Within(c.form, part)
	var failed error
	if c.d == Read {
		failed = c.read(whole, part, elements, bytes)
	}
	return whole*t.Size() + bytes, firstError(err, failed)
}

// read converts whole elements from the file, and of the next one the basic elements that are in its first
// part bytes in the file; in memory they take so many bytes.
func (c *conversion) read(whole, part, elements, bytes int64) error {
	at := whole * c.form.Size()
	if whole > 0 {
		b, err := c.native.Part(0, whole)
		if err == nil {
			err = c.convert(&b, c.file[:at], c.basic(whole))
		}
		if err != nil {
			return err
		}
	}
	if elements == 0 || planted.PartUnconverted && !c.r.standard() {
		return nil
	}
	last, err := c.native.Part(whole, 1)
	if err != nil {
		return err
	}
	file := c.file[at : at+part]
	switch {
	case c.r.standard():
		// The rest of the element keeps what it has.
		room := make([]byte, c.form.Size())
		if _, err := last.PackExternal(room); err != nil {
			return err
		}
		copy(room, file)
		file = room
	case c.r.Read == nil:
		room := make([]byte, c.form.Size())
		last.PackAll(room)
		copy(room, file[:bytes])
		file = room
	}
	return c.convert(&last, file, elements)
}

// convert stores count basic elements of the file in b, from its first one on.
func (c *conversion) convert(b *dtype.Buffer, file []byte, count int64) error {
	switch {
	case c.r.standard():
		_, err := b.UnpackExternal(file)
		return err
	case c.r.Read != nil:
		return c.called(c.r.Read(b, file, count, 0))
	}
	b.UnpackAll(file)
	return nil
}
