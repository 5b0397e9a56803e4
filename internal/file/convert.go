package file

import (
	"fmt"
	"math"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
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
	file   []byte
	one    int64 // bytes of an element in the file
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
	if t.Size() > math.MaxInt/max(b.Count(), 1) {
		return x.Mem, nil, fail(class.Count, "%s take more than %d bytes in the file", x.Type.Describe(b.Count()), math.MaxInt)
	}
	c := &conversion{v.converts, b, make([]byte, t.Size()*b.Count()), t.Size(), d}
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
	return &class.Error{Class: class.Conversion, Text: fmt.Sprintf("conversion function of representation %q: %v", c.r.Name, err), Cause: err}
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
// memory.
func (c *conversion) done(n int64, err error) (int64, error) {
	if c == nil || n == 0 || c.one == 0 {
		return n, err
	}
	t := c.native.Type()
	whole, part := n/c.one, n%c.one
	if !c.r.standard() {
		part = 0 // elements of the program are converted as a whole
	}
	var failed error
	if c.d == Read {
		failed = c.read(whole, part)
	}
	return whole*t.Size() + t.NativeSize(part), firstError(err, failed)
}

// read converts whole elements, and the first part bytes of the next one, from the file.
func (c *conversion) read(whole, part int64) error {
	b, err := c.native.Part(0, whole)
	file := c.file[:whole*c.one]
	switch {
	case err != nil || whole == 0:
	case c.r.standard():
		_, err = b.UnpackExternal(file)
	case c.r.Read != nil:
		err = c.called(c.r.Read(&b, file, c.basic(whole), 0))
	default:
		b.UnpackAll(file)
	}
	if err != nil || part == 0 {
		return err
	}
	// The rest of an element that the file has in part keeps what it has.
	last, err := c.native.Part(whole, 1)
	if err != nil {
		return err
	}
	room := make([]byte, c.one)
	if _, err := last.PackExternal(room); err != nil {
		return err
	}
	copy(room, c.file[whole*c.one:whole*c.one+part])
	_, err = last.UnpackExternal(room)
	return err
}
