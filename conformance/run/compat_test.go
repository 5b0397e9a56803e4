//go:build linux

package run

import "testing"

// DEP-01: procedures of MPI-1 that the standard ABI does not have are in a library of their
// own, and do the same as their replacements. EX-07: no program gets them without asking.
func TestDEP01_Deprecated(t *testing.T) {
	need(t)
	t.Parallel()
	r := launched(t, "shm", 1, nil, compile(t, "mpicc", "../deprecated.c", "-lmpi_compat"))
	if r.status != 0 || r.out != "no errors\n" || r.err != "" {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
}
