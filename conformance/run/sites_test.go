//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marked returns the line numbers of a source by the words in the comments at the ends of the lines.
func marked(t *testing.T, source string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	mark := regexp.MustCompile(`; /\* (.*) \*/$`)
	for i, line := range strings.Split(string(text), "\n") {
		if m := mark.FindStringSubmatch(line); m != nil {
			at[m[1]] = fmt.Sprintf("%s:%d", filepath.Base(source), i+1)
		}
	}
	return at
}

// Reports of checking mode name both calls by their lines in C, however the program is linked, and by
// functions if there is no debugging information.
func TestCheckingNamesLinesOfC(t *testing.T) {
	need(t, "gcc", "objcopy")
	t.Parallel()
	const source = "../check_sites.c"
	at := marked(t, source)
	put := regexp.QuoteMeta(at["put first"])
	// For a call on several lines the debugging information names one of the lines.
	var line int
	fmt.Sscanf(at["put second"], "check_sites.c:%d", &line)
	second := fmt.Sprintf(`check_sites\.c:(%d|%d)`, line-1, line)
	race := "MPI_Put by rank 2 at " + second + " conflicts with MPI_Put by rank 0 at " + put + " between the same two fences"

	whole := compile(t, "mpicc", source, "-g")
	dir := t.TempDir()
	lib := filepath.Join(dir, "libpart.so")
	for _, c := range [][]string{{"-g", "-shared", "-fPIC", "-DPART=2", source, "-o", lib}} {
		if r := command(t, nil, bin("mpicc"), c...); r.status != 0 {
			t.Fatalf("mpicc %q: %s", c, r.err)
		}
	}
	stripped, apart := filepath.Join(dir, "stripped"), filepath.Join(dir, "apart")
	for _, c := range [][]string{
		{"objcopy", "--only-keep-debug", whole, apart + ".debug"},
		{"objcopy", "--strip-debug", "--add-gnu-debuglink=" + apart + ".debug", whole, apart},
		{"objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", whole, stripped},
	} {
		if r := command(t, nil, c[0], c[1:]...); r.status != 0 {
			t.Fatalf("%q: %s", c, r.err)
		}
	}
	for _, c := range []struct{ name, program, what, says string }{
		{"pie", whole, "race", race},
		{"returns", whole, "returns", "^class "},
		{"no pie", compile(t, "mpicc", source, "-g", "-no-pie"), "race", race},
		{"dwarf 4", compile(t, "mpicc", source, "-gdwarf-4", "-O2", "-flto"), "race", race},
		{"library", compile(t, "mpicc", source, "-DPART=1", lib, "-Wl,-rpath,"+dir), "race", race},
		{"static", compile(t, "mpicc", source, "-g", "-static-mpi"), "race", race},
		{"apart", apart, "race", race},
		{"no lines", compile(t, "mpicc", source, "-g0"), "race", `MPI_Put by rank 2 at put_second\+0x[0-9a-f]+ in check_sites conflicts with MPI_Put by rank 0 at put_first\+0x[0-9a-f]+ in check_sites `},
		{"stripped", stripped, "race", `MPI_Put by rank 2 at stripped\+0x[0-9a-f]+ conflicts with MPI_Put by rank 0 at stripped\+0x[0-9a-f]+ `},
		{"reuse", whole, "reuse", "the 8 bytes here that MPI_Put at " + put + " sends to .* have changed before MPI_Win_fence at " + regexp.QuoteMeta(at["reuse second"])},
		{"result", whole, "result", "the 8 bytes here that MPI_Get at " + regexp.QuoteMeta(at["get first"]) + " fetches from .* into have been stored to before MPI_Win_fence at " + regexp.QuoteMeta(at["result second"])},
		{"store", whole, "store", "bytes 20 to 20 of rank 1 \\(displacement 5\\) have changed since MPI_Get by rank 0 at " + regexp.QuoteMeta(at["get first"]) + ", before MPI_Win_fence at " + regexp.QuoteMeta(at["store second"])},
	} {
		for _, fabric := range []string{"shm", "tcp"} {
			t.Run(fabric+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				r := launched(t, fabric, 3, []string{"HALO_CHECK=1"}, c.program, c.what)
				if !regexp.MustCompile(c.says).MatchString(r.out + r.err) {
					t.Errorf("status %d\n%s%s\nwant %s", r.status, r.out, r.err, c.says)
				}
			})
		}
	}
}

// BRD-08: so do those for programs in Fortran, by each method.
func TestBRD08_CheckingNamesLinesOfFortran(t *testing.T) {
	needFortran(t)
	t.Parallel()
	source, all := methods("check_sites")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string][2]string{} // the lines of a mistake
	mistake := ""
	for i, line := range strings.Split(string(text), "\n") {
		place := regexp.QuoteMeta(fmt.Sprintf("check_sites.F90:%d", i+1))
		pair := at[mistake]
		switch {
		case strings.HasPrefix(line, "  CASE ('"):
			mistake = strings.Trim(line, " CASE(')")
			continue
		case strings.HasSuffix(line, " ! first"):
			pair[0] = place
		case strings.HasSuffix(line, " ! second"):
			pair[1] = place
		}
		at[mistake] = pair
	}
	says := map[string]string{
		"types":      "rank 0 sends 4 x MPI_INT\\S*, rank 1 receives 4 x MPI_DOUBLE\\S*: rank 0 at FIRST, rank 1 at SECOND",
		"count":      "rank 0 at FIRST, rank 1 at SECOND",
		"calls":      "rank 0 calls MPI_Bcast, rank 1 calls MPI_Barrier: rank 0 at FIRST, rank 1 at SECOND",
		"roots":      "rank 0 names root 0, rank 1 names root 1: rank 0 at FIRST, rank 1 at SECOND",
		"operations": "rank 0 combines by MPI_SUM, rank 1 by MPI_MAX: rank 0 at FIRST, rank 1 at SECOND",
		"lengths":    "rank 0 at FIRST, rank 1 at SECOND|rank 1 at SECOND, rank 0 at FIRST",
		"changed":    "have changed before it was complete, between the call at FIRST and that at SECOND",
		"posted":     "1 receive is still posted: on MPI_COMM_WORLD from 0 tag 8, at SECOND; here, unmatched: from 0 tag 7, 16 bytes, sent at FIRST",
		"unreceived": "never received: 1 message of 16 bytes from 0 tag 7, made at FIRST",
	}
	for _, m := range all {
		program := filepath.Join(t.TempDir(), "check_sites")
		args := append(append(append([]string{"-g"}, strictFortran...), m.flags...), "-O0") // which merges no calls
		if r := command(t, nil, bin("mpifort"), append(args, "-J", t.TempDir(), "-o", program, source)...); r.status != 0 {
			t.Fatalf("mpifort: %s", r.err)
		}
		for what, want := range says {
			for _, fabric := range []string{"shm", "tcp"} {
				t.Run(fmt.Sprint(m.name, "/", what, "/", fabric), func(t *testing.T) {
					t.Parallel()
					r := launched(t, fabric, 2, []string{"HALO_CHECK=1"}, program, what)
					first, second := at[what][0], at[what][1]
					if m.name == "f08" && what == "changed" {
						second = `check_sites\.F90:\d+` // gfortran writes the line of another statement for this call
					}
					want := strings.NewReplacer("FIRST", first, "SECOND", second).Replace(want)
					if !regexp.MustCompile(want).MatchString(r.out + r.err) {
						t.Errorf("status %d\n%s%s\nwant %s", r.status, r.out, r.err, want)
					}
				})
			}
		}
	}
}

// In checking mode MPI_Finalize lists each object that is not freed once, with its place; without
// checking mode it lists none.
func TestCheckingListsWhatIsLeft(t *testing.T) {
	need(t)
	t.Parallel()
	const source = "../check_leftover.c"
	program := compile(t, "mpicc", source, "-g")
	want := map[string]bool{}
	for kind, at := range marked(t, source) {
		if kind == "cannot be freed" {
			continue
		}
		failing := "freed"
		if strings.HasPrefix(kind, "request") {
			failing = "waited for"
		}
		for rank := range 2 {
			want[fmt.Sprintf("halo: rank %d: never %s: 1 %s, made at %s", rank, failing, kind, at)] = true
		}
	}
	if len(want) != 2*9 {
		t.Fatalf("%d lines of the source are marked", len(want)/2)
	}
	// Without a launcher the library finds the program halo beside itself.
	if r := command(t, []string{"HALO_CHECK=1"}, program); !strings.Contains(r.err, "halo: rank 0: never freed: 1 window, made at check_leftover.c:") {
		t.Errorf("alone: status %d\n%s%s", r.status, r.out, r.err)
	}
	for _, fabric := range []string{"shm", "tcp"} {
		r := launched(t, fabric, 2, []string{"HALO_CHECK=1"}, program)
		lines := strings.Split(strings.TrimSuffix(r.err, "\n"), "\n")
		for _, line := range lines {
			if !want[line] {
				t.Errorf("over %s: %s", fabric, line)
			}
		}
		if r.status != 0 || r.out != "" || len(lines) != len(want) {
			t.Errorf("over %s: status %d, %d lines, want %d\n%s%s", fabric, r.status, len(lines), len(want), r.out, r.err)
		}
		if r := launched(t, fabric, 2, nil, program); r != (result{}) {
			t.Errorf("over %s, unchecked: %+v", fabric, r)
		}
	}
}

// DT-16, COL-05: members of collectives with different types and roots get errors in checking mode.
// Without it, programs that work anyway get none.
func TestCheckingComparesCollectives(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../check_collectives.c")
	for _, fabric := range []string{"shm", "tcp"} {
		for n := 2; n <= 4; n++ {
			for _, env := range [][]string{{"HALO_CHECK=1"}, nil} {
				if r := launched(t, fabric, n, env, program); r.status != 0 {
					t.Errorf("%d ranks over %s with %q: status %d\n%s%s", n, fabric, env, r.status, r.out, r.err)
				}
			}
		}
	}
}

// IO-13, IO-19: in checking mode data of files has the types of the view, and ends of split accesses repeat the
// buffer and the thread of the begin. Without it programs that work anyway get no error.
func TestCheckingComparesFiles(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../check_files.c", "-pthread")
	for _, fabric := range []string{"shm", "tcp"} {
		for _, env := range [][]string{{"HALO_CHECK=1"}, nil} {
			if r := launched(t, fabric, 2, env, program); r.status != 0 {
				t.Errorf("over %s with %q: status %d\n%s%s", fabric, env, r.status, r.out, r.err)
			}
		}
	}
}

// Checking mode reports each unknown info key that begins with mpi_ once, with the line of the call
// that gets it and the nearest known key. Without checking mode there is no report.
func TestCheckingReportsUnknownInfoKeys(t *testing.T) {
	need(t)
	t.Parallel()
	const source = "../check_info.c"
	program := compile(t, "mpicc", source, "-g")
	want := map[string]bool{}
	for mark, at := range marked(t, source) {
		call, key, _ := strings.Cut(mark, " ")
		for rank := range 2 {
			want[fmt.Sprintf("halo: rank %d: unknown info key %q of %s at %s: the nearest known one is %q", rank, key+"x", call, at, key)] = true
		}
	}
	if len(want) != 2*9 {
		t.Fatalf("%d lines of the source are marked", len(want)/2)
	}
	for _, fabric := range []string{"shm", "tcp"} {
		r := launched(t, fabric, 2, []string{"HALO_CHECK=1"}, program)
		lines := strings.Split(strings.TrimSuffix(r.err, "\n"), "\n")
		for _, line := range lines {
			if !want[line] {
				t.Errorf("over %s: %s", fabric, line)
			}
		}
		if r.status != 0 || r.out != "" || len(lines) != len(want) {
			t.Errorf("over %s: status %d, %d lines, want %d\n%s%s", fabric, r.status, len(lines), len(want), r.out, r.err)
		}
		if r := launched(t, fabric, 2, nil, program); r != (result{}) {
			t.Errorf("over %s, unchecked: %+v", fabric, r)
		}
	}
}

// BRD-08: without checking mode, too, integers that are received as floating-point numbers of their size are an
// error, which names both sides.
func TestBRD08_TypesOfMessagesInC(t *testing.T) {
	need(t)
	t.Parallel()
	at := programs(t, []entry{{"message_types", 2, nil}})["message_types"]
	if t.Failed() {
		return
	}
	for _, fabric := range []string{"shm", "tcp"} {
		r := launched(t, fabric, 2, []string{"HALO_SHOW_ERRORS=1"}, at)
		for _, want := range []string{
			"mpi: MPI_Recv on MPI_COMM_WORLD from 0 tag 5: rank 0 sends 1 x MPI_INT32_T, rank 1 receives 1 x MPI_FLOAT (MPI_ERR_TYPE)",
			"mpi: MPI_Irecv on MPI_COMM_WORLD from 0 tag 5: rank 0 sends 20 x MPI_DOUBLE, rank 1 receives 20 x MPI_INT64_T (MPI_ERR_TYPE)",
			"rank 0 sends 8000 x MPI_INT32_T, rank 1 receives 8000 x MPI_FLOAT (MPI_ERR_TYPE)",
		} {
			if r.status != 0 || !strings.Contains(r.err, want) {
				t.Errorf("%s: status %d\n%s%s\nwant %s", fabric, r.status, r.out, r.err, want)
			}
		}
	}
}
