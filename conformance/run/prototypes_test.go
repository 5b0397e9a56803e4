//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/abi"
)

// prototype is a line of testdata/procedures.txt.
type prototype struct{ name, result, params string }

// prototypesOfTheStandard reads that table.
func prototypesOfTheStandard(t *testing.T) (all []prototype) {
	t.Helper()
	text, err := os.ReadFile("testdata/procedures.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		front, params, _ := strings.Cut(line, " (")
		name, result, other := strings.Cut(front, " ")
		if !other {
			result = "int"
		}
		all = append(all, prototype{name, result, "(" + params})
	}
	return all
}

// CST-11, X-CNT-01: mpi.h declares each procedure of the standard with the types of the standard, under both of its
// names, and no others but extensions. 161 of them are forms with large counts, which have other types than the forms
// without, except those of partitioned communication: its counts are large in both.
func TestCST11_XCNT01_Prototypes(t *testing.T) {
	need(t)
	t.Parallel()
	all := prototypesOfTheStandard(t)
	params := map[string]string{}
	for _, p := range all {
		params[p.name] = p.params
	}
	large := 0
	for _, p := range all {
		small, is := strings.CutSuffix(p.name, "_c")
		if !is {
			continue
		}
		large++
		without, known := params[small]
		if alias := small == "MPI_Psend_init" || small == "MPI_Precv_init"; !known || (without == p.params) != alias {
			t.Errorf("%s%s beside %q", p.name, p.params, without)
		}
	}
	if len(params) != 664 || large != 161 {
		t.Errorf("the table has %d procedures, %d with large counts, the standard 664 and 161", len(params), large)
	}
	generated, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range generated {
		for ; p != nil; p = p.Large {
			if params[p.Name] == "" && !strings.HasPrefix(p.Name, "MPIX_") {
				t.Errorf("%s is neither of the standard nor an extension", p.Name)
			}
		}
	}
	var source strings.Builder
	source.WriteString("#include <mpi.h>\n")
	for _, p := range all {
		for _, name := range []string{p.name, "P" + p.name} {
			fmt.Fprintf(&source, "_Static_assert(__builtin_types_compatible_p(__typeof__(%s), %s%s), \"%s\");\n", name, p.result, p.params, name)
		}
	}
	file := filepath.Join(t.TempDir(), "prototypes.c")
	if err := os.WriteFile(file, []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := command(t, nil, bin("mpicc"), append(strict, "-fsyntax-only", file)...); r != (result{}) {
		t.Errorf("status %d\n%.4000s", r.status, r.err)
	}
}
