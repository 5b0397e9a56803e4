//go:build linux

package run

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	bindings "github.com/halo-mpi/halo/abi/fortran"
)

// ofLevel are programs that use no more of the language than their method needs.
var ofLevel = map[string]string{
	"include.f": "      PROGRAM P\n      INCLUDE 'mpif.h'\n      INTEGER I, E\n      CALL MPI_INIT(E)\n      CALL MPI_COMM_RANK(MPI_COMM_WORLD, I, E)\n      CALL MPI_FINALIZE(E)\n      END\n",
	"include.f90": "PROGRAM p\n  IMPLICIT NONE\n  INCLUDE 'mpif.h'\n  INTEGER :: i, e\n  CALL MPI_INIT(e)\n  CALL MPI_COMM_RANK(MPI_COMM_WORLD, i, e)\n" +
		"  CALL MPI_FINALIZE(e)\nEND PROGRAM p\n",
	"mpi.f90": "PROGRAM p\n  USE mpi\n  IMPLICIT NONE\n  INTEGER :: i, e\n  CALL MPI_INIT(e)\n  CALL MPI_BCAST(i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)\n" +
		"  CALL MPI_FINALIZE(e)\nEND PROGRAM p\n",
	"f08.f90": "PROGRAM p\n  USE mpi_f08\n  IMPLICIT NONE\n  INTEGER :: i(8)\n  CALL MPI_Init()\n  CALL MPI_Bcast(i(::2), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)\n" +
		"  CALL MPI_Finalize()\nEND PROGRAM p\n",
}

// A program in Fortran 95, 2003, 2008 and 2018 can use each of the methods: what the modules and
// mpif.h need of a newer level is the compiler's, and not the program's (FTN-12). mpif.h is valid in
// both forms (FTN-09).
func TestFTN12_LevelsOfTheLanguage(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	warning := regexp.MustCompile(`(?m)^(Warning|Error): .*$`)
	for name, text := range ofLevel {
		source := filepath.Join(dir, name)
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, level := range []string{"legacy", "f95", "f2003", "f2008", "f2018"} {
			t.Run(level+"/"+name, func(t *testing.T) {
				t.Parallel()
				out, err := exec.Command(bin("mpifort"), "-std="+level, "-c", "-o", filepath.Join(t.TempDir(), "p.o"), source).CombinedOutput()
				if err != nil || warning.Match(obsolescent.ReplaceAll(out, nil)) {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// The modules, and the loops of the benchmark, compile in Fortran 2018 with all warnings, and have none but
// that COMMON blocks are obsolescent.
func TestModulesHaveNoWarnings(t *testing.T) {
	needFortran(t)
	files, err := bindings.Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	loops, err := os.ReadFile("../../bench/fortran.f90")
	if err != nil {
		t.Fatal(err)
	}
	files["loops.f90"] = loops
	for _, name := range []string{"mpi_types.f90", "mpi_callbacks.f90", "mpi_sizes.F90", "mpi.f90", "mpi_f08.f90", "loops.f90"} {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("gfortran", "-std=f2018", "-Wall", "-Wextra", "-c", name)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if left := obsolescent.ReplaceAll(out, nil); err != nil || bytes.Contains(left, []byte("Warning: ")) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// long is a program for compilers whose INTEGERs have been made longer: it names the kind of all that MPI gets.
const long = "PROGRAM p\n  USE mpi_f08\n  IMPLICIT NONE\n  INTEGER, PARAMETER :: k = MPI_INTEGER_KIND\n  INTEGER(k) :: i, n\n" +
	"  IF (STORAGE_SIZE(0) /= 64 .OR. STORAGE_SIZE(0_k) /= 32) ERROR STOP 1\n  CALL MPI_Init()\n  CALL MPI_Comm_size(MPI_COMM_WORLD, n)\n  i = 1_k\n" +
	"  CALL MPI_Allreduce(MPI_IN_PLACE, i, 1_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)\n  IF (i /= n) ERROR STOP 2\n  CALL MPI_Finalize()\nEND PROGRAM p\n"

// INTEGERs of 8 bytes (-fdefault-integer-8) are an error of the compiler by every method, unless a program
// with a module passes those that MPI has.
func TestLongIntegersDoNotCompile(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	build := func(name, text string) (program, out string, err error) {
		source := filepath.Join(dir, name)
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := exec.Command(bin("mpifort"), "-fdefault-integer-8", "-o", source+".out", source).CombinedOutput()
		return source + ".out", string(b), err
	}
	for name, says := range map[string]string{
		"include.f":   "mpif.h:4:45:", // a comment there says why
		"include.f90": "mpif.h:4:45:",
		"mpi.f90":     "passed INTEGER(8) to INTEGER(4)",
		"f08.f90":     "There is no specific subroutine for the generic ‘mpi_bcast’",
	} {
		if _, out, err := build(name, ofLevel[name]); err == nil || !strings.Contains(out, says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	program, out, err := build("long.f90", long)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r := launched(t, "shm", 2, nil, program); r != (result{}) {
		t.Errorf("%+v", r)
	}
}
