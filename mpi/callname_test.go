package mpi

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/internal/coll"
)

// Programs in C read the names of C in errors and in wait notes, so that each call needs one.
// The exceptions are calls that exist only in Go, and names that also occur in texts as ordinary
// words; abi/bind knows the procedure of these by the entry of the call.
func TestCallsHaveNamesInC(t *testing.T) {
	exceptions := []string{"RecvSlice", "FreeSlots", "Errhandler", "Merge", "Info", "Shared", "FetchOp", "CompareSwap", "Load", "Store", "Reading", "Writing", "Publish", "Unpublish"}
	end := callCollective + call(coll.Kinds)*call(coll.Forms)
	for k := call(0); k < end; k++ {
		name := k.String()
		kinds := []string{"", "win", "comm", "type", "get", "create"}
		if k >= callOpenFile && k < callOpenPort {
			kinds = []string{"", "file", "fileget"}
		}
		found := slices.ContainsFunc(kinds, func(of string) bool { return cname.Find(of+name) != "" })
		if found == slices.Contains(exceptions, name) {
			t.Errorf("call %s: a procedure of C is found: %v", name, found)
		}
	}
}
