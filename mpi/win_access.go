package mpi

import (
	"reflect"
	"sync"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
)

// access is what a call on a window moves, as the engine takes it: the arguments of the
// call, checked as far as that needs neither window nor target. The engine keeps no
// pointer to it, but the compiler cannot know that: so they are used again and again.
type access struct {
	origin, result rma.Data
	layout         rma.Layout
	op             op.Op
	typ            op.Type

	buffers [2]dtype.Buffer // what origin.Layout and result.Layout point to
}

var accesses = sync.Pool{New: func() any { return new(access) }}

func newAccess() *access { return accesses.Get().(*access) }

// release gives a back: nothing refers to it any more.
func (a *access) release() {
	if a.origin.Layout != nil || a.result.Layout != nil {
		a.buffers = [2]dtype.Buffer{}
	}
	a.origin, a.result, a.layout = rma.Data{}, rma.Data{}, rma.Layout{}
	accesses.Put(a)
}

// from and into fill in the memory at the origin.
func (a *access) from(b *dtype.Buffer) { a.origin = data(b, &a.buffers[0]) }

func (a *access) into(b *dtype.Buffer) { a.result = data(b, &a.buffers[1]) }

// data is a Buffer as the engine takes it; kept is where it is if it is no run of bytes.
func data(b, kept *dtype.Buffer) rma.Data {
	if bytes, ok := b.Contiguous(); ok {
		return rma.Data{Bytes: bytes}
	}
	*kept = *b
	return rma.Data{Layout: kept}
}

// put fills in the origin of a put: a message to count elements of t at the target, or to
// the first ones of them.
func (a *access) put(origin *Buffer, count int64, t *dtype.Type) error {
	if origin.err != nil {
		return origin.err
	}
	if err := movable(origin.b.Type()); err != nil {
		return err
	}
	if _, err := a.send(origin.b.Size(), count, t); err != nil {
		return err
	}
	a.from(&origin.b)
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
	if err := movable(result.b.Type()); err != nil {
		return err
	}
	size, err := a.placed(count, t)
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
	a.into(b)
	return nil
}

// at is placed where data is written to.
func (a *access) at(count int64, t *dtype.Type) (size int64, err error) {
	var b dtype.Buffer
	err = b.At(nil, t, count)
	if err == nil && b.Overlaps() {
		return 0, wrong(ErrType, "%s: bytes of memory at the target occur twice", t.Describe(count))
	}
	if err != nil {
		return 0, err
	}
	return a.placed(count, t)
}

// placed fills in where data lies at the target, and returns its size. What lies there as it
// is packed needs no layout.
func (a *access) placed(count int64, t *dtype.Type) (size int64, err error) {
	var b dtype.Buffer
	err = b.At(nil, t, count)
	if err == nil {
		err = movable(t)
	}
	switch {
	case err != nil:
		return 0, err
	case t.Dense():
		a.layout = rma.Layout{}
	default:
		a.layout = rma.Layout{Type: t, Count: count}
	}
	return b.Size(), nil
}

// movable fails for handles, which mean something to who has received them in a message only.
func movable(t *dtype.Type) error {
	if t != nil && t.IsHandle() {
		return wrong(ErrType, "%s is for messages only: no handles are accessed in windows", t)
	}
	return nil
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
func plain[T any]() op.Type { return numberType(reflect.TypeFor[T]().Kind()) }
