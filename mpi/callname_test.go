package mpi

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/internal/coll"
)

// Programs in C read the names of C in errors and in what they wait for: each call has one. The
// exceptions are calls of Go alone, and words that texts contain in their ordinary sense, whose
// procedure abi/bind knows by the entry of the call.
func TestCallsHaveNamesInC(t *testing.T) {
	exceptions := []string{"RecvSlice", "Errhandler", "Merge", "Info", "Shared", "FetchOp", "CompareSwap", "Load", "Store", "Reading", "Writing"}
	end := callCollective + call(coll.Kinds)*call(coll.Forms)
	for k := call(0); k < end; k++ {
		name := k.String()
		found := slices.ContainsFunc([]string{"", "win", "comm", "type", "get", "create"}, func(of string) bool { return cname.Find(of+name) != "" })
		if found == slices.Contains(exceptions, name) {
			t.Errorf("call %s: a procedure of C is found: %v", name, found)
		}
	}
}
