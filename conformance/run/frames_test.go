//go:build linux

package run

import (
	"strings"
	"testing"
)

// mostFunctions limits the number of functions of Halo between a short MPI_Allreduce that enters Go
// and memory.
const mostFunctions = 6

// A short MPI_Allreduce from C calls few functions before it accesses memory. The test counts the
// functions that are not inlined, from the first one of Go, by which cgo calls haloRun, to the one
// that writes the operand into the slot, and to the one that calls the loops of internal/op to
// combine the operands. These loops do not count, like a copy.
func TestAllreduceIsOfFewFunctions(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers report faults themselves")
	}
	program := compile(t, "mpicc", "../frames_allreduce.c")
	for _, what := range []string{"operand", "result"} {
		// C leaves everything to Go, and does not probe the buffers.
		r := launched(t, "shm", 2, []string{"HALO_C_FAST=0", "GOTRACEBACK=single"}, program, what)
		way, found := functions(r.err)
		if !found {
			t.Errorf("%s: status %d, and no stack\n%s%s", what, r.status, r.out, r.err)
		}
		if len(way) > mostFunctions {
			t.Errorf("%s: %d functions, %d at most:\n%s", what, len(way), mostFunctions, strings.Join(way, "\n"))
		}
	}
}

// functions returns the functions that count between the fault and the call from C to Go, from the
// trace that Go prints at the end of a process.
func functions(stack string) (way []string, found bool) {
	_, stack, _ = strings.Cut(stack, "\npanic(")
	_, stack, _ = strings.Cut(stack, "\n")
	for line := range strings.Lines(stack) {
		line = strings.TrimSuffix(line, "\n")
		call, inlined := strings.CutSuffix(line, "(...)")
		switch {
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "github.com/halo-mpi/halo/internal/op."):
		case strings.HasPrefix(line, "main.haloRun("):
			if !inlined {
				way = append(way, "main.haloRun")
			}
			return append(way, "what cgo makes of haloRun"), true // without a package: not in the stack
		case !inlined:
			way = append(way, call[:strings.LastIndex(call, "(")])
		}
	}
	return way, false
}
