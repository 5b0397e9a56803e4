package mpi

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/coll"
)

// clash is the text of the error when two calls run at the same time on the communicator or
// window of that name. Bindings for other languages have threads instead of goroutines, and
// other names for the calls.
func clash(c *coll.Clash, name string) string {
	if name == "" {
		name = "one communicator"
	}
	if current.names.Load() == nil {
		return c.On(name)
	}
	return fmt.Sprintf("two threads are in collectives on %s at once (%s and %s); give each a communicator of its own, by MPI_Comm_dup",
		name, c.Call.C(), c.Other.C())
}
