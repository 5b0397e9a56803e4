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

	"github.com/halo-mpi/halo/abi"
)

// named are programs that tests of this package run and that are in no list.
var named = map[string]bool{
	"messages": true,
	"tool_put": true, "process_dlopen": true, "process_signals": true, "process_fork": true, "process_quiet": true, "process_walk": true, "process_memory": true,
	"process_handlers": true, "process_children": true, "process_threads": true, "outside": true, "exits": true,
	"fast_errors": true, "abort": true, "deprecated": true, "check_sites": true, "check_leftover": true, "check_info": true, "check_collectives": true, "check_types": true, "check_files": true, "check_mistakes": true,
	"fpenv": true, "frames_allreduce": true, "engine_attributes": true,
	"stdio_kill": true, "stdio_die": true, "f2c_half": true,
	"message_errors": true, "message_signal": true,
	"wild_returns": true, "wild_ends": true, "waits": true, "watched": true, "process_forked": true, "process_stacks": true, "process_monitor": true, "signal_wait": true, "handler_readback": true, "handler_ways": true, "handler_timer": true, "handler_jump": true, "handler_first": true, "openmp": true, "rma_target_ends": true, "waits_calls": true,
}

// The library has every procedure of the table, and its twin for tools,
// and the soname of the standard. TRM-14, PMP-01, X-SYM-01: all of them are symbols, none is a
// macro.
func TestSymbols(t *testing.T) {
	need(t)
	t.Parallel()
	f, err := elf.Open(filepath.Join(installed, "lib/libmpi_abi.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(names, []string{"libmpi_abi.so.1"}) {
		t.Errorf("soname %q, %v", names, err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	binding := map[string]elf.SymBind{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			at[s.Name], binding[s.Name] = s.Value, elf.ST_BIND(s.Info)
		}
	}
	all, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, p := range all {
		for ; p != nil; p = p.Large {
			count++
			twin := "P" + p.Name
			if at[p.Name] == 0 || at[p.Name] != at[twin] {
				t.Errorf("%s is at %#x, %s at %#x", p.Name, at[p.Name], twin, at[twin])
			}
			if binding[p.Name] != elf.STB_WEAK || binding[twin] != elf.STB_GLOBAL {
				t.Errorf("%s is %v, %s %v", p.Name, binding[p.Name], twin, binding[twin])
			}
		}
	}
	if count < 664 {
		t.Errorf("%d procedures", count)
	}
}

// A tool that defines MPI_Put and calls PMPI_Put sees every put, whether it is linked or preloaded.
// PMP-02, PMP-03: it sees each call once, and what it does not define is that of the library.
func TestTools(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../rma_put_get.c")
	tool := compile(t, "mpicc", "../tool_put.c", "-shared", "-fPIC")
	linked := filepath.Join(t.TempDir(), "linked")
	if r := command(t, nil, bin("mpicc"), "-o", linked, "../rma_put_get.c", "../tool_put.c"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.err)
	}
	static := filepath.Join(t.TempDir(), "static")
	if r := command(t, nil, bin("mpicc"), "-static-mpi", "-o", static, "../rma_put_get.c", "../tool_put.c"); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, r.err)
	}
	for name, r := range map[string]result{
		"preloaded": launched(t, "shm", 2, nil, "env", "LD_PRELOAD="+tool, program),
		"linked":    launched(t, "shm", 2, nil, linked),
		"static":    launched(t, "shm", 2, nil, static),
	} {
		if r.status != 0 || strings.Count(r.err, "MPI_Put was called") != 2 || strings.Contains(r.err, "called 0 times") || !strings.Contains(r.out, "no errors") {
			t.Errorf("%s: status %d\n%s%s", name, r.status, r.out, r.err)
		}
	}
}

// The header compiles without warnings in every language that it supports, and defines the types of the standard ABI
// in each. TRM-16, CST-11: these are C and C++. CST-01, CST-07, CST-09: constants are initial values in each.
func TestHeader(t *testing.T) {
	need(t)
	t.Parallel()
	for _, kind := range []string{"c -std=c99", "c -std=c11", "c++ -std=c++17"} {
		t.Run(kind, func(t *testing.T) {
			compiler := "mpicc"
			if strings.Contains(kind, "++") {
				need(t, "g++")
				compiler = "mpicxx"
			}
			to := filepath.Join(t.TempDir(), "program")
			args := append([]string{"-x"}, strings.Fields(kind)...)
			args = append(args, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "../abi_types.c", "-x", "none", "-o", to)
			if r := command(t, nil, bin(compiler), args...); r.status != 0 || r.err != "" {
				t.Fatalf("status %d\n%s", r.status, r.err)
			}
			if r := command(t, nil, to); r != (result{out: "no errors\n"}) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// constant is a line of testdata/constants.txt.
type constant struct{ typ, name, value string }

// constantsOfTheStandard reads that table.
func constantsOfTheStandard(t *testing.T) (all []constant) {
	t.Helper()
	text, err := os.ReadFile("testdata/constants.txt")
	if err != nil {
		t.Fatal(err)
	}
	typ := ""
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case line[0] != '\t':
			typ = words[0]
		case len(words) == 2:
			all = append(all, constant{typ, words[1], words[0]})
		default:
			t.Fatalf("%q is no constant", line)
		}
	}
	return all
}

// The values and types in mpi.h are those of the standard, which a table of the test has, and those of the table that
// mpi.h is generated from has besides, which are extensions. CST-01, CST-03, CST-04, CST-05, CST-06, CST-07, CST-08, CST-09,
// CST-10, CST-12.
func TestConstants(t *testing.T) {
	need(t)
	t.Parallel()
	all := constantsOfTheStandard(t)
	if len(all) != 365 {
		t.Errorf("the table has %d constants, the standard 365", len(all))
	}
	known := map[string]bool{}
	for _, c := range all {
		known[c.name] = true
	}
	generated, err := abi.Constants()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range generated {
		n, ok := c.Int()
		if !known[c.Name] && !strings.HasPrefix(c.Name, "MPIX_") {
			t.Errorf("%s is neither of the standard nor an extension", c.Name)
		} else if !known[c.Name] && ok { // no alias
			all = append(all, constant{c.Type, c.Name, fmt.Sprint(n)})
		}
	}
	var source strings.Builder
	source.WriteString("#include <mpi.h>\n#include <stdio.h>\nint main(void) {\n")
	want := map[string]string{}
	for _, c := range all {
		typ := c.typ
		if typ == "integer" {
			typ = "int"
			fmt.Fprintf(&source, "#if %s - (%s)\n#error \"%s\"\n#endif\n", c.name, c.value, c.name)
		}
		want[c.name] = c.value + " 1"
		fmt.Fprintf(&source, "\tprintf(\"%s %%lld %%d\\n\", (long long)(intptr_t)(%s), __builtin_types_compatible_p(__typeof__(%s), %s));\n", c.name, c.name, c.name, typ)
	}
	source.WriteString("\treturn 0;\n}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "constants.c"), []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	r := command(t, nil, compile(t, "mpicc", filepath.Join(dir, "constants.c"), "-I"+dir))
	got := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
		name, value, _ := strings.Cut(line, " ")
		got[name] = value
	}
	if len(got) != len(want) {
		t.Errorf("%d constants, %d in the tables", len(got), len(want))
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %s, want %s: its value, and whether it has its type", name, got[name], value)
		}
	}
}
