//go:build linux

package run

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// With the installed suppressions valgrind reports nothing for a program without errors, not even
// leaks, also in its functions that Halo calls with operands, statuses and data of files. For a program with errors it reports these and no others.
func TestValgrindFindsTheProgramsErrors(t *testing.T) {
	need(t, "valgrind")
	t.Parallel()
	if runtime.GOARCH != "amd64" || sanitizing().flags != nil {
		t.Skip("the suppressions are for the plain library on amd64")
	}
	program := compile(t, "mpicc", "../watched.c", "-g")
	valgrind := []string{"valgrind", "-q", "--error-exitcode=9", "--suppressions=" + filepath.Join(installed, "share/halo/halo.supp")}
	leaks := []string{"--leak-check=full", program}
	for _, fabric := range []string{"shm", "tcp"} {
		if r := launched(t, fabric, 3, nil, valgrind[0], append(valgrind[1:], leaks...)...); r != (result{}) {
			t.Errorf("3 ranks over %s without errors: status %d\n%.3000s%s", fabric, r.status, r.err, r.out)
		}
	}
	// Valgrind reports the instruction rdtscp even if the processor lacks it, so Go must not use it: the C
	// library sets GODEBUG.
	for env, became := range map[string]string{"-uGODEBUG": "cpu.all=off\n", "GODEBUG=gctrace=0": "gctrace=0,cpu.all=off\n"} {
		if r := command(t, nil, "env", append(append([]string{env}, valgrind...), program, "godebug")...); r != (result{out: became}) {
			t.Errorf("with env %s GODEBUG is %q: status %d\n%s", env, r.out, r.status, r.err)
		}
	}
	r := command(t, nil, valgrind[0], append(append(valgrind[1:], leaks...), "leak", "read", "undefined", "send", "receive")...)
	if r.status != 9 {
		t.Errorf("status %d", r.status)
	}
	for what, times := range map[string]int{
		"16 bytes in 1 blocks are definitely lost": 1,
		"Invalid read of size 4":                   1,
		"Conditional jump or move depends on":      1,
		"Invalid read of size 1":                   2, // the probe of a receive buffer reads and writes its first byte
		"PMPI_Send (":                              1,
		"PMPI_Sendrecv (":                          1,
		"Invalid ":                                 3,
	} {
		if n := strings.Count(r.err, what); n != times {
			t.Errorf("%q %d times, not %d", what, n, times)
		}
	}
	if t.Failed() {
		t.Log(r.err)
	}
}
