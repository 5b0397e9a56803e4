//go:build linux

package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// strictFortran are the flags that all programs in Fortran compile with. COMMON blocks are obsolescent in
// Fortran 2018, and the constants of MPI are in some: that is the only warning allowed.
var strictFortran = []string{"-std=f2018", "-Wall", "-Wextra", "-O3", "-cpp", "-I../fortran"}

// include are the flags for programs with mpif.h, which has no interfaces, and constants that a
// program does not use.
var include = []string{"-DMETHOD_MPIF", "-fallow-argument-mismatch", "-Wno-unused-parameter"}

// method is a way to compile a program of several methods: the first is for those of one.
type method struct {
	name  string
	flags []string
}

// methods returns how a program is compiled.
func methods(name string) (source string, list []method) {
	source = "../fortran/" + name + ".F90"
	if exists(source) {
		return source, []method{{"f08", []string{"-DMETHOD_F08"}}, {"mpi", []string{"-DMETHOD_MPI"}}, {"include", include}}
	}
	return "../fortran/" + name + ".f90", []method{{"", []string{"-Wno-unused-parameter"}}}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

var (
	obsolescent = regexp.MustCompile(`(?m)^Warning: .*(obsolescent feature: COMMON block|(Type|Rank) mismatch between actual argument).*$`)
	warned      = regexp.MustCompile(`(?m)^(Warning|Error|Fatal Error): .*$`)
)

// needFortran skips a test if there is no Fortran compiler. The library that another one has
// installed may lack the Fortran part.
func needFortran(t *testing.T) {
	t.Helper()
	need(t, "gfortran")
	if !exists(filepath.Join(installed, "lib", "libmpifort_abi.so.1")) {
		t.Skip("what is installed has no Fortran library")
	}
}

// Every program runs over each fabric, by each method (TRM-17), which is above the fabrics: one with several
// methods runs over one fabric by each. It compiles without a warning, and without flags of its own but
// those of its list (ENV-11). A program checks itself and prints "no errors".
func TestFortranPrograms(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	cores := make(chan struct{}, runtime.NumCPU())
	type program struct {
		at      string
		n       int
		fabrics []string
	}
	var list []program
	for _, e := range readList(t, "../fortran/list") {
		source, all := methods(e.name)
		for i, m := range all {
			p := program{filepath.Join(dir, e.name+m.name), e.n, []string{"shm", "tcp"}}
			if e.n == 1 {
				p.fabrics = p.fabrics[:1]
			} else if len(all) > 1 {
				p.fabrics = p.fabrics[i%2:][:1]
			}
			list = append(list, p)
			wg.Go(func() {
				cores <- struct{}{}
				defer func() { <-cores }()
				args := append(append(append([]string{}, strictFortran...), m.flags...), "-J", t.TempDir(), "-o", p.at, source)
				for _, more := range e.args {
					switch {
					case strings.HasPrefix(more, "-"):
					case strings.HasSuffix(more, ".c"):
						half := p.at + ".o"
						if out, err := exec.Command(bin("mpicc"), append(strict, "-c", "-o", half, "../fortran/"+more)...).CombinedOutput(); err != nil || len(out) > 0 {
							t.Errorf("%s: %v\n%s", more, err, out)
						}
						more = half
					default:
						more = "../fortran/" + more
					}
					args = append(args, more)
				}
				out, err := exec.Command(bin("mpifort"), args...).CombinedOutput()
				if left := obsolescent.ReplaceAll(out, nil); err != nil || warned.Match(left) {
					t.Errorf("%s %s: %v\n%s", e.name, m.name, err, out)
				}
			})
		}
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for _, p := range list {
		for _, fabric := range p.fabrics {
			t.Run(fmt.Sprintf("%s/%s-%d", fabric, filepath.Base(p.at), p.n), func(t *testing.T) {
				t.Parallel()
				if r := launched(t, fabric, p.n, nil, p.at); r.status != 0 || r.out != "no errors\n" || r.err != "" {
					t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
				}
			})
		}
	}
}

// Every program in Fortran is in the list, a part of one that is, or named in a test.
func TestAllFortranProgramsAreListed(t *testing.T) {
	known := map[string]bool{}
	for _, e := range readList(t, "../fortran/list") {
		source, _ := methods(e.name)
		known[filepath.Base(source)] = true
		for _, more := range e.args {
			known[more] = true
		}
	}
	sources, err := filepath.Glob("../fortran/*.[fF]*")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d programs, %v", len(sources), err)
	}
	for _, s := range sources {
		if name := filepath.Base(s); !known[name] && !named[strings.TrimSuffix(name, filepath.Ext(name))] {
			t.Errorf("%s is in no list", s)
		}
	}
}

// examples/fortran/heat.f90 computes the same bits as examples/heat, on any number of ranks.
func TestFortranHeatIsTheSame(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "heat")
	out, err := exec.Command(bin("mpifort"), "-std=f2018", "-Wall", "-Wextra", "-O2", "-J", dir, "../../examples/fortran/heat.f90", "-o", program).CombinedOutput()
	if err != nil || warned.Match(obsolescent.ReplaceAll(out, nil)) {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "go"), "../../examples/heat").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum := regexp.MustCompile(`checksum [0-9a-f]{16}\n`)
	r := command(t, nil, filepath.Join(dir, "go"), "-steps", "60", "-o", filepath.Join(dir, "heat.png"))
	want := sum.FindString(r.out)
	if want == "" {
		t.Fatalf("%+v", r)
	}
	for _, n := range []int{1, 4} {
		if r := launched(t, "shm", n, nil, program, "60"); sum.FindString(r.out) != want || r.status != 0 {
			t.Errorf("%d ranks: %s, want %s\n%s%s", n, sum.FindString(r.out), want, r.out, r.err)
		}
	}
}

// refused are programs that must not compile, and what the compiler says: a wrong kind of handle, a
// scalar for an array, a section that a nonblocking call could not find again, an unknown keyword.
var refused = []struct{ name, use, declaration, statement, message string }{
	{"FTN-03 a datatype for a communicator", "mpi_f08", "INTEGER :: r", "CALL MPI_Comm_rank(MPI_INTEGER, r)",
		"There is no specific subroutine for the generic ‘mpi_comm_rank’"},
	{"TRM-06 a window for a communicator", "mpi_f08", "TYPE(MPI_Win) :: w", "CALL MPI_Barrier(w)",
		"There is no specific subroutine for the generic ‘mpi_barrier’"},
	{"FTN-03 an integer for a handle", "mpi_f08", "INTEGER :: c, r", "CALL MPI_Comm_rank(c, r)",
		"There is no specific subroutine for the generic ‘mpi_comm_rank’"},
	{"FTN-17 a scalar for an array", "mpi_f08", "TYPE(MPI_Comm) :: c", "CALL MPI_Cart_create(MPI_COMM_WORLD, 1, 2, .TRUE., .TRUE., c)",
		"There is no specific subroutine for the generic ‘mpi_cart_create’"},
	{"FTN-17 a scalar for an array, in mpi", "mpi", "INTEGER :: c, e", "CALL MPI_CART_CREATE(MPI_COMM_WORLD, 1, 2, .TRUE., .TRUE., c, e)",
		"Rank mismatch in argument ‘dims’ at (1) (rank-1 and scalar)"},
	{"FTN-20 a vector subscript", "mpi_f08", "REAL :: a(30)\n  TYPE(MPI_Request) :: r", "CALL MPI_Irecv(a([7, 9, 23]), 3, MPI_REAL, 0, 0, MPI_COMM_WORLD, r)",
		"There is no specific subroutine for the generic ‘mpi_irecv’"},
	{"FTN-27 the name of an argument", "mpi_f08", "TYPE(MPI_Op) :: op\n  EXTERNAL f", "CALL MPI_Op_create(function=f, commute=.TRUE., op=op)",
		"There is no specific subroutine for the generic ‘mpi_op_create’"},
	{"FTN-03 without ierror in mpi", "mpi", "", "CALL MPI_BARRIER(MPI_COMM_WORLD)", "Missing actual argument for argument ‘ierror’"},
	{"a displacement of another kind", "mpi_f08", "INTEGER :: b(2)\n  TYPE(MPI_Win) :: w", "CALL MPI_Put(b, 1, MPI_INTEGER, 0, 0, 1, MPI_INTEGER, w)",
		"There is no specific subroutine for the generic ‘mpi_put’"},
	{"a displacement of another kind, in mpi", "mpi", "INTEGER :: b(2), w, e", "CALL MPI_PUT(b, 1, MPI_INTEGER, 0, 0, 1, MPI_INTEGER, w, e)",
		"Type mismatch in argument ‘target_disp’ at (1); passed INTEGER(4) to INTEGER(8)"},
	{"a tag of another kind", "mpi_f08", "INTEGER :: b(2)", "CALL MPI_Send(b, 1, MPI_INTEGER, 0, 1_8, MPI_COMM_WORLD)",
		"There is no specific subroutine for the generic ‘mpi_send’"},
	{"a count that is a real", "mpi", "INTEGER :: b(2), e", "CALL MPI_SEND(b, 1.0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, e)",
		"Type mismatch in argument ‘count’ at (1); passed REAL(4) to INTEGER(4)"},
	{"an integer for a logical", "mpi_f08", "INTEGER :: f\n  TYPE(MPI_Request) :: r", "CALL MPI_Test(r, f, MPI_STATUS_IGNORE)",
		"There is no specific subroutine for the generic ‘mpi_test’"},
	{"a status of mpi in mpi_f08", "mpi_f08", "INTEGER :: b(2), s(MPI_STATUS_SIZE)", "CALL MPI_Recv(b, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, s)",
		"There is no specific subroutine for the generic ‘mpi_recv’"},
	{"counts of two kinds in one call", "mpi_f08", "INTEGER :: b(2), n(2)\n  INTEGER(KIND=MPI_ADDRESS_KIND) :: d(2)",
		"CALL MPI_Gatherv(b, 1, MPI_INTEGER, b, n, d, MPI_INTEGER, 0, MPI_COMM_WORLD)", "There is no specific subroutine for the generic ‘mpi_gatherv’"},
	{"a constant for a result", "mpi_f08", "", "CALL MPI_Comm_rank(MPI_COMM_WORLD, 5)", "There is no specific subroutine for the generic ‘mpi_comm_rank’"},
	{"a handle that is no operation, compared", "mpi_f08", "", "IF (MPI_SUM == MPI_INTEGER) STOP", "Operands of comparison operator ‘==’ at (1)"},
}

// Wrong arguments are errors of the compiler (FTN-03, FTN-17, FTN-20, FTN-27, TRM-06). Those of a module are
// procedures of one file, since the compiler takes longest to read the module; each error is that of its line.
func TestWrongArgumentsDoNotCompile(t *testing.T) {
	needFortran(t)
	for _, module := range []string{"mpi_f08", "mpi"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			lines := []string{"MODULE wrong", "  USE " + module, "  IMPLICIT NONE", "CONTAINS"}
			at := map[string]int{} // names, and the line of the statement
			for i, r := range refused {
				if r.use != module {
					continue
				}
				lines = append(lines, fmt.Sprintf("  SUBROUTINE s%d()", i))
				lines = append(lines, strings.Split(r.declaration, "\n")...)
				lines = append(lines, r.statement, "  END SUBROUTINE")
				at[r.name] = len(lines) - 1
			}
			dir := t.TempDir()
			source := filepath.Join(dir, "wrong.f90")
			if err := os.WriteFile(source, []byte(strings.Join(append(lines, "END MODULE wrong\n"), "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(bin("mpifort"), "-fmax-errors=0", "-J"+dir, "-c", "-o", filepath.Join(dir, "wrong.o"), source).CombinedOutput()
			said := map[int]string{}
			for _, part := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(source)+`:`).Split(string(out), -1)[1:] {
				number, _, _ := strings.Cut(part, ":")
				line, _ := strconv.Atoi(number)
				said[line] += part
			}
			if err == nil || len(at) == 0 || len(said) != len(at) {
				t.Errorf("%v, errors in %d lines, not in %d\n%s", err, len(said), len(at), out)
			}
			for _, r := range refused {
				if r.use == module && !strings.Contains(said[at[r.name]], "Error: "+r.message) {
					t.Errorf("%s: %q, want %q", r.name, said[at[r.name]], r.message)
				}
			}
		})
	}
}
