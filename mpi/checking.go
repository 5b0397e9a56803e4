package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
)

// If HALO_CHECK=1 is in the environment when Init is called, messages carry a description of
// their types, which is compared with the types of the receive, and members compare the
// arguments of a collective before any data moves: see docs/checking.md. For this purpose a
// slice has a datatype, in addition to its bytes, when it is passed to the engine.

// checks reports whether the process of c runs in checking mode.
func (c *Comm) checks() bool { return c != nil && c.w.Checks() }

// checkedType is the datatype of the elements of a slice. Bytes count as untyped, MPI_BYTE,
// which matches any type: Go has no other way to say that.
func checkedType(g reflect.Type) *dtype.Type {
	if g == nil || g.Kind() == reflect.Uint8 {
		return types().Type(dtype.Byte)
	}
	t, err := types().Of(g)
	if err != nil { // not possible: g is a number
		panic("mpi: " + err.Error())
	}
	return t
}

// typeArgs sets the element type of the slices of a collective, in checking mode.
func (c *Comm) typeArgs(a *coll.Args) {
	if c.w.Checks() {
		a.Datatype = checkedType(a.Elem)
	}
}

// callArgs sets the name of a collective that does not block, in checking mode.
func (c *Comm) callArgs(name call.Number, a *coll.Args) {
	if c.w.Checks() {
		a.Call = name
	}
}
