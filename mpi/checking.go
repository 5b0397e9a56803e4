package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
)

// With HALO_CHECK=1 in the environment when Init is called, messages are told about
// and compared with what they are received as, and collectives are compared before
// any data moves: docs/checking.md shows it. A slice then has a type, beside bytes,
// on its way to the engine.

// checks reports whether the process of c checks.
func (c *Comm) checks() bool { return c != nil && c.w.Checks() }

// checkedType is the datatype of elements of slices. A slice of bytes is taken for
// bytes without type, MPI_BYTE, which match anything: Go has no other way to say so.
func checkedType(g reflect.Type) *dtype.Type {
	if g == nil || g.Kind() == reflect.Uint8 {
		return types().Type(dtype.Byte)
	}
	t, err := types().Of(g)
	if err != nil { // of numbers
		panic("mpi: " + err.Error())
	}
	return t
}

// typeArgs tells the type of the slices that a collective is given, in checking mode.
func (c *Comm) typeArgs(a *coll.Args) {
	if c.w.Checks() {
		a.Datatype = checkedType(a.Elem)
	}
}

// callArgs tells what a collective that does not block is called, in checking mode.
func (c *Comm) callArgs(name call, a *coll.Args) {
	if c.w.Checks() {
		a.Call = name.String()
	}
}
