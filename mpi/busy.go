package mpi

import (
	"fmt"
	"strings"

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
		name, standardName(c.Call), standardName(c.Other))
}

// standardName is the name of a call in the standard: MPI_Allreduce_init for AllreduceInit. The
// function of NameCalls cannot give it, since that knows only the call that its own goroutine is
// in.
func standardName(c coll.Call) string {
	b := []byte("MPI_")
	switch c {
	case coll.CallIntercommCreate, coll.CallFinalize:
	case coll.CallMerge:
		b = append(b, "Intercomm_"...)
	case coll.CallDup, coll.CallIdup, coll.CallSplit, coll.CallCreate, coll.CallFree, coll.CallAccept, coll.CallConnect:
		b = append(b, "Comm_"...)
	case coll.CallWinFree:
		b = append(b, "Win_"...)
	}
	first := len(b)
	for i, letter := range []byte(c.String()) {
		if i > 0 && letter >= 'A' && letter <= 'Z' {
			b = append(b, '_')
		}
		b = append(b, letter|0x20)
	}
	name := string(b)
	if first > len("MPI_") {
		return name
	}
	return name[:first] + strings.ToUpper(name[first:first+1]) + name[first+1:]
}
