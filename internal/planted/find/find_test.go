package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the directory of the repository.
const root = "../../.."

// declared returns the exported names that a file of package planted declares.
func declared(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal/planted", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].IsExported() {
					names = append(names, v.Names[0].Name)
				}
			}
		}
	}
	return names
}

// Tests that exist look for every fault, and package planted and docs/testing.md say what each
// fault does.
func TestEveryFaultIsLookedFor(t *testing.T) {
	var names []string
	for _, s := range faults() {
		names = append(names, s.name)
	}
	off, on := declared(t, "off.go"), declared(t, "on.go")
	if !slices.Equal(off, on) || !slices.Equal(off, names) {
		t.Errorf("faults of off.go %v\nof on.go %v\nand those looked for %v", off, on, names)
	}
	said, err := descriptions(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := sources{}
	for _, s := range faults() {
		if said[s.name] == "" || !bytes.Contains(page, []byte("| "+s.name+" | "+strings.TrimSuffix(said[s.name], ".")+" |")) {
			t.Errorf("%s %q is not in docs/testing.md: go run ./internal/planted/find -write docs/testing.md", s.name, said[s.name])
		}
		for _, x := range s.tests {
			for _, run := range strings.Split(x.run, "|") {
				run, _, _ = strings.Cut(run, "/")
				if !tests.declare(t, x.pkg, strings.Trim(run, "^$")) {
					t.Errorf("%s: %s has no test %s", s.name, x.pkg, run)
				}
			}
		}
	}
}

// sources holds, by package, the lines of its test files that begin a function. Each file is read once.
type sources map[string][]byte

// declare reports whether a package declares a test whose name begins with run.
func (s sources) declare(t *testing.T, pkg, run string) bool {
	t.Helper()
	if s[pkg] == nil {
		files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(text) {
				if bytes.HasPrefix(line, []byte("func ")) {
					s[pkg] = append(s[pkg], line...)
				}
			}
		}
	}
	return regexp.MustCompile(`(?m)^func ` + run).Match(s[pkg])
}

// failed names the first test that has failed, the test that was running when the process ended, or
// else what was to run.
func TestOutcomes(t *testing.T) {
	for out, want := range map[string]string{
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.10s)\n    --- FAIL: TestB/x (0.1s)\nFAIL\n": "TestB",
		"=== RUN   TestA\n=== RUN   TestA/inproc\npanic: a rank sleeps\n\ngoroutine 7":                                             "TestA",
		"": "TestC",
	} {
		if got := failed(out, "TestC"); got != want {
			t.Errorf("%q: %s has failed, want %s", out, got, want)
		}
	}
}
