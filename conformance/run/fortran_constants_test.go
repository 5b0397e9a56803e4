//go:build linux

package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ofFortran are the constants that Fortran has and C has not, and their values.
var ofFortran = []constant{
	{"integer", "MPI_STATUS_SIZE", "8"},
	{"integer", "MPI_SOURCE", "1"}, // indices into a status begin with 1
	{"integer", "MPI_TAG", "2"},
	{"integer", "MPI_ERROR", "3"},
	{"integer", "MPI_ADDRESS_KIND", "8"},
	{"integer", "MPI_COUNT_KIND", "8"},
	{"integer", "MPI_OFFSET_KIND", "8"},
	{"integer", "MPI_INTEGER_KIND", "4"},
}

// inFortran returns a constant of the standard as Fortran has it: not at all if it is an address, a function, or of the
// tool information interface, and shorter by the byte that ends a string of C if it is the length of one.
func inFortran(c constant) (constant, bool) {
	if strings.HasSuffix(c.typ, "*") || strings.HasPrefix(c.typ, "MPI_T_") || strings.HasPrefix(c.name, "MPI_T_") || strings.HasPrefix(c.name, "MPI_F_") {
		return c, false
	}
	if strings.HasPrefix(c.name, "MPI_MAX_") {
		n, _ := strconv.Atoi(c.value)
		c.value = strconv.Itoa(n - 1)
	}
	return c, true
}

// CST-02, and CST-01, CST-03, CST-04, CST-05, CST-06, CST-08, CST-10, CST-12 in Fortran: by each method constants have the values
// of the standard, which a table of the test has, and their types. They are constants of the compiler, as initial values,
// kinds and lengths must be. Those that say what a method supports are logical.
func TestCST02_ConstantsOfFortran(t *testing.T) {
	needFortran(t)
	t.Parallel()
	all := slices.Clone(ofFortran)
	for _, c := range constantsOfTheStandard(t) {
		if f, is := inFortran(c); is {
			all = append(all, f)
		}
	}
	if len(all) != 278 {
		t.Errorf("Fortran has %d constants, 278 in the standard", len(all))
	}
	for _, method := range []string{"mpi_f08", "mpi", "mpif.h"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			source := filepath.Join(t.TempDir(), "constants.f90")
			if err := os.WriteFile(source, []byte(constantsProgram(method, all)), 0o644); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(t.TempDir(), "constants")
			out, err := exec.Command(bin("mpifort"), "-std=f2018", "-o", program, source).CombinedOutput()
			if left := obsolescent.ReplaceAll(out, nil); err != nil || warned.Match(left) {
				t.Fatalf("%v\n%.3000s", err, out)
			}
			got := map[string]string{}
			for line := range strings.Lines(command(t, nil, program).out) {
				if words := strings.Fields(line); len(words) == 2 {
					got[words[0]] = words[1]
				}
			}
			for _, c := range all {
				if got[c.name] != c.value {
					t.Errorf("%s is %q, want %s", c.name, got[c.name], c.value)
				}
			}
			supported := "F"
			if method == "mpi_f08" {
				supported = "T"
			}
			for name, want := range map[string]string{"MPI_SUBARRAYS_SUPPORTED": supported, "MPI_ASYNC_PROTECTS_NONBLOCKING": supported, "kinds": "64"} {
				if got[name] != want {
					t.Errorf("%s: %q, want %s", name, got[name], want)
				}
			}
			if n := len(all) + 3; len(got) != n {
				t.Errorf("%d values, want %d", len(got), n)
			}
		})
	}
}

// constantsProgram returns a program that declares a constant p1, p2 ... with the type and value of each constant, and
// prints names and values.
func constantsProgram(method string, all []constant) string {
	var declared, printed strings.Builder
	for i, c := range all {
		kind, value := "INTEGER", fmt.Sprintf("p%d", i)
		switch {
		case c.typ == "MPI_Offset":
			kind = "INTEGER(KIND=MPI_OFFSET_KIND)"
		case c.typ != "integer" && c.typ != "int" && method == "mpi_f08":
			kind, value = "TYPE("+c.typ+")", value+"%MPI_VAL"
		}
		fmt.Fprintf(&declared, "  %s, PARAMETER :: p%d = %s\n", kind, i, c.name)
		fmt.Fprintf(&printed, "  PRINT '(A, 1X, I0)', '%s', %s\n", c.name, value)
	}
	use, include := "  USE "+method+"\n", ""
	if method == "mpif.h" {
		use, include = "", "  INCLUDE 'mpif.h'\n"
	}
	return "PROGRAM constants\n" + use + "  IMPLICIT NONE\n" + include + declared.String() + `  LOGICAL, PARAMETER :: support(2) = [MPI_SUBARRAYS_SUPPORTED, MPI_ASYNC_PROTECTS_NONBLOCKING]
  INTEGER(KIND=MPI_ADDRESS_KIND), PARAMETER :: address = 1_MPI_ADDRESS_KIND
  INTEGER(KIND=MPI_COUNT_KIND), PARAMETER :: count = 1_MPI_COUNT_KIND
  INTEGER(KIND=MPI_OFFSET_KIND), PARAMETER :: offset = 1_MPI_OFFSET_KIND
  INTEGER(KIND=MPI_INTEGER_KIND), PARAMETER :: plain(MPI_STATUS_SIZE) = MPI_SOURCE
  CHARACTER(LEN=MPI_MAX_OBJECT_NAME), PARAMETER :: name = 'name'
` + printed.String() + `  PRINT '(A, 1X, L1)', 'MPI_SUBARRAYS_SUPPORTED', support(1)
  PRINT '(A, 1X, L1)', 'MPI_ASYNC_PROTECTS_NONBLOCKING', support(2)
  IF (ALL([STORAGE_SIZE(address), STORAGE_SIZE(count), STORAGE_SIZE(offset)] == 64) .AND. &
    STORAGE_SIZE(plain) == STORAGE_SIZE(0) .AND. SIZE(plain) == 8 .AND. LEN(name) == 127) PRINT '(A)', 'kinds 64'
END PROGRAM constants
`
}
