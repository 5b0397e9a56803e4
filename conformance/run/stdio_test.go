//go:build linux

package run

import (
	"os"
	"path/filepath"
	"testing"
)

// Lines that a rank has printed arrive even if it is killed, in C and Fortran, unless it has
// chosen its own buffering.
func TestOutputByLines(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "stdio_kill"}})["stdio_kill"]
	static := compile(t, "mpicc", "../stdio_kill.c", "-static-mpi")
	file := filepath.Join(t.TempDir(), "output")
	for _, c := range []struct {
		name, out string
		command   []string
	}{
		{"by default", "a line\n", []string{program}},
		{"linked statically", "a line\n", []string{static}},
		{"before MPI_Init", "before MPI_Init\na line\n", []string{program, "early"}},
		{"its own buffer", "", []string{program, "full"}},
		{"no buffer", "a line\nhalf a line", []string{program, "none"}},
		{"stdbuf", "a line\nhalf a line", []string{"env", "stdbuf", "-o0", program}},
		{"a file", "", []string{"env", "sh", "-c", "exec " + program + " >" + file}},
	} {
		r := launched(t, "shm", 1, nil, c.command[0], c.command[1:]...)
		if r.status != 128+9 || r.out != c.out {
			t.Errorf("%s: status %d\n%s%s", c.name, r.status, r.out, r.err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || len(text) != 0 {
		t.Errorf("the file has %q, %v: it is to be buffered as a whole", text, err)
	}
	if r := command(t, nil, "sh", "-c", program+" | cat"); r.out != "" {
		t.Errorf("no rank: %q: its buffering is not the library's business", r.out)
	}
}

// The same in Fortran, whose library flushes every record.
func TestOutputByLinesFortran(t *testing.T) {
	need(t, "gfortran")
	t.Parallel()
	program := fortran(t, "../stdio_kill.f90", "../stdio_die.c")
	if r := launched(t, "shm", 1, nil, program); r.status != 128+9 || r.out != "a line\n" {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
}

// fortran compiles a program from a source in Fortran and a source in C.
func fortran(t *testing.T, source, c string) string {
	t.Helper()
	dir := t.TempDir()
	object, to := filepath.Join(dir, "half.o"), filepath.Join(dir, "program")
	for _, args := range [][]string{
		{"gfortran", "-Wall", "-Werror", "-c", "-o", object, source},
		append(append([]string{bin("mpicc")}, strict...), "-o", to, c, object, "-lgfortran"),
	} {
		if r := command(t, nil, args[0], args[1:]...); r.status != 0 || r.err != "" {
			t.Fatalf("%q: status %d\n%s%s", args, r.status, r.out, r.err)
		}
	}
	return to
}

// LNG-03: handles and statuses pass through a part of the program that is in Fortran.
func TestLNG03_FortranHalf(t *testing.T) {
	need(t, "gfortran")
	t.Parallel()
	program := fortran(t, "../f2c_half.f90", "../f2c_half.c")
	for _, fabric := range []string{"shm", "tcp"} {
		if r := launched(t, fabric, 3, nil, program); r != (result{out: "no errors\n"}) {
			t.Errorf("%s: status %d\n%s%s", fabric, r.status, r.out, r.err)
		}
	}
}
