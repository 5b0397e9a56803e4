package file

import (
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

// conversion is the data of one access in the representation of the file. Accesses of a view that
// converts move it as a whole, so that they are as fast as others but for the conversion.
//
// Rejected: conversion in pieces between system calls. It takes less memory, and every path of an
// access would need it a second time.
type conversion struct {
	native   dtype.Buffer
	external []byte
	d        Direction
}

// converted returns what moves between memory and the file instead of x: x itself, with no
// conversion, in a view that does not convert.
func (v *View) converted(d Direction, x Data) (mem.Mem, *conversion, error) {
	if !v.converts || x.Err() != nil || x.Len() == 0 || x.Type == nil {
		return x.Mem, nil, nil
	}
	b, err := x.Buffer(x.Type)
	if err != nil {
		return x.Mem, nil, err
	}
	size, err := x.Type.ExternalSize(b.Count())
	if err != nil {
		return x.Mem, nil, err
	}
	c := &conversion{native: b, external: make([]byte, size), d: d}
	if d == Write {
		if _, err := b.PackExternal(c.external); err != nil {
			return x.Mem, nil, err
		}
	}
	return mem.Of(c.external), c, nil
}

// done stores what has been read, n bytes in the file, and returns how many bytes of data that is in
// memory.
func (c *conversion) done(n int64, err error) (int64, error) {
	if c == nil || n == 0 {
		return n, err
	}
	t := c.native.Type()
	one, failed := t.ExternalSize(1)
	if failed != nil || one == 0 {
		return 0, firstError(err, failed)
	}
	whole, part := n/one, n%one
	if c.d == Read {
		failed = c.store(whole, part, one)
	}
	return whole*t.Size() + t.NativeSize(part), firstError(err, failed)
}

// store converts whole elements, and the first part bytes of the next one, of one bytes each.
func (c *conversion) store(whole, part, one int64) error {
	first, err := c.native.Part(0, whole)
	if err == nil {
		_, err = first.UnpackExternal(c.external[:whole*one])
	}
	if err != nil || part == 0 {
		return err
	}
	// The rest of an element that the file has in part keeps what it has.
	last, err := c.native.Part(whole, 1)
	if err != nil {
		return err
	}
	room := make([]byte, one)
	if _, err := last.PackExternal(room); err != nil {
		return err
	}
	copy(room, c.external[whole*one:whole*one+part])
	if _, err := last.UnpackExternal(room); err != nil {
		return fail(class.Conversion, "element %d: %v", whole, err)
	}
	return nil
}
