//go:build linux

package run

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// The modules compile in Fortran 2018 with all warnings, and have none but that COMMON blocks are
// obsolescent.
func TestModulesHaveNoWarnings(t *testing.T) {
	needFortran(t)
	files, err := bindings.Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"mpi_types.f90", "mpi_callbacks.f90", "mpi_sizes.F90", "mpi.f90", "mpi_f08.f90"} {
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
