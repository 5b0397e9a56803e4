//go:build linux

package run

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inLargeForms are programs that do what they do with the forms with large counts, too: all pass counts by value
// to these calls, except coll_forms, which also has arrays of them.
var inLargeForms = []string{"coll_basic", "coll_forms", "coll_neighbors", "empty_memory", "f2c", "fast_long", "file", "file_sequential", "message_random",
	"message_requests", "partitioned", "persistent", "probe", "rma_requests", "send_modes", "sendrecv", "session"}

// ofLargeForms are programs that call such forms by their own names.
var ofLargeForms = []string{"coll_neighbors", "file_datarep", "gaps", "large_counts", "type_large"}

// largeForms returns a header that gives the forms with large counts the names of the others: those whose counts are
// passed by value, or those of collectives with arrays of counts.
func largeForms(all []prototype, arrays bool) string {
	params := map[string]string{}
	for _, p := range all {
		params[p.name] = p.params
	}
	byValue := strings.NewReplacer("MPI_Count,", "int,", "MPI_Count)", "int)", "MPI_Aint,", "int,", "MPI_Aint)", "int)")
	text := "#include <mpi.h>\n#define LARGE_FORMS\n"
	for _, p := range all {
		small, is := strings.CutSuffix(p.name, "_c")
		if !is {
			continue
		}
		array := (strings.Contains(p.params, "const MPI_Aint*") || strings.Contains(small, "educe_scatter")) && strings.Contains(p.params, "MPI_Comm")
		if byValue.Replace(p.params) == byValue.Replace(params[small]) || arrays && array {
			text += fmt.Sprintf("#define %s %s\n", small, p.name)
		}
	}
	return text
}

// X-CNT-01: every form with large counts does what the form without does: programs pass with the former under the
// names of the latter, and each of the 161 forms is called by some program.
func TestXCNT01_LargeForms(t *testing.T) {
	need(t)
	t.Parallel()
	all := prototypesOfTheStandard(t)
	dir := t.TempDir()
	ranks := map[string]entry{}
	for _, e := range append(readList(t, "../list.halo"), readList(t, "../list")...) {
		ranks[e.name] = e
	}
	var called []string
	calls := func(program string) {
		f, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.ImportedSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			called = append(called, s.Name)
		}
	}
	for _, name := range inLargeForms {
		header := filepath.Join(dir, name+".h")
		if err := os.WriteFile(header, []byte(largeForms(all, name == "coll_forms")), 0o644); err != nil {
			t.Fatal(err)
		}
		program := compile(t, "mpicc", "../"+name+".c", "-include", header)
		calls(program)
		e := ranks[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := launched(t, "shm", e.n, nil, program, e.args...); r != (result{out: "no errors\n"}) {
				t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
			}
		})
	}
	for _, name := range ofLargeForms {
		calls(compile(t, "mpicc", "../"+name+".c"))
	}
	for _, p := range all {
		if strings.HasSuffix(p.name, "_c") && !slices.Contains(called, p.name) {
			t.Errorf("no program calls %s", p.name)
		}
	}
}
