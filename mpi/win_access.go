package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
)

// access is what a call on a window moves, as the engine takes it: the arguments of the
// call, checked as far as that needs neither window nor target.
type access struct {
	origin, result rma.Data
	layout         rma.Layout
	op             op.Op
	typ            op.Type
}

// put fills in the origin of a put: a message to count elements of t at the target, or to
// the first ones of them.
func (a *access) put(origin *Buffer, count int64, t *dtype.Type) error {
	if origin.err != nil {
		return origin.err
	}
	if _, err := a.send(origin.b.Size(), count, t); err != nil {
		return err
	}
	a.origin = data(&origin.b)
	return nil
}

// send fills in where a message of n bytes to count elements of t is to lie at the
// target, and returns of how many elements that is.
func (a *access) send(n, count int64, t *dtype.Type) (elements int64, err error) {
	size, err := a.at(count, t)
	switch {
	case err != nil || n == size:
		return count, err
	case n > size:
		return 0, tooLong(n, size)
	case n%t.Size() != 0:
		return 0, broken(n, t)
	}
	_, err = a.at(n/t.Size(), t)
	return n / t.Size(), err
}

// get fills in the result of a get: room for a message of count elements of t.
func (a *access) get(result *Buffer, count int64, t *dtype.Type) error {
	if err := writable(result); err != nil {
		return err
	}
	size, err := a.at(count, t)
	if err != nil {
		return err
	}
	b := &result.b
	if room := b.Size(); size < room {
		each := b.Type().Size()
		if size%each != 0 {
			return broken(size, b.Type())
		}
		first := b.First(size / each)
		b = &first
	} else if size > room {
		return tooLong(size, room)
	}
	a.result = data(b)
	return nil
}

// at fills in where the data lie at the target, and returns their size. What lies there
// as it is packed needs no layout.
func (a *access) at(count int64, t *dtype.Type) (size int64, err error) {
	b, err := dtype.At(nil, t, count)
	switch {
	case err != nil:
		return 0, err
	case b.Overlaps():
		return 0, wrong(ErrType, "%s: bytes of memory at the target occur twice", t.Describe(count))
	case t.Dense():
		a.layout = rma.Layout{}
	default:
		a.layout = rma.Layout{Type: t, Count: count}
	}
	return b.Size(), nil
}

// data is a Buffer as the engine takes it.
func data(b *dtype.Buffer) rma.Data {
	if bytes, ok := b.Contiguous(); ok {
		return rma.Data{Bytes: bytes}
	}
	return rma.Data{Layout: b}
}

func tooLong(n, room int64) error { return wrong(ErrTruncate, "%d bytes into room for %d", n, room) }

// broken is the error of data that end within an element.
func broken(n int64, t *dtype.Type) error {
	return wrong(ErrType, "%d bytes are no whole number of elements of %s", n, t.Describe(1))
}

// writable fails if a Buffer cannot be written to.
func writable(b *Buffer) error {
	if b.err == nil && b.b.Overlaps() {
		return wrong(ErrType, "%s: bytes of memory occur twice, and are to be received into", b.b.Type().Describe(b.b.Count()))
	}
	return b.err
}

// plain is what numbers of type T are to operations, 0 if T is no number.
func plain[T any]() op.Type {
	if k := reflect.TypeFor[T]().Kind(); k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr {
		return numberType(k)
	}
	return 0
}
