package lint

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/conformance.md anew")

// Every feature that is not only planned has a test with its id, and docs/conformance.md names these
// tests.
func TestConformance(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	carriers := Carriers(files, Chapters())
	for _, c := range Chapters() {
		for _, f := range c.Features {
			if len(carriers[f.ID]) == 0 {
				t.Errorf("no test carries %s: %s", f.ID, f.Text)
			}
		}
		for _, p := range c.Planned {
			for _, f := range p.Features {
				if tests := carriers[f.ID]; len(tests) > 0 {
					t.Errorf("%s is %s, but %s carries it", f.ID, p.Why, tests[0])
				}
			}
		}
	}
	page := filepath.Join(root, "docs", "conformance.md")
	library, err := Library(root)
	if err != nil {
		t.Fatal(err)
	}
	want := Conformance(files, Chapters()) + library
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Error("docs/conformance.md is not what it would be now: go test ./internal/lint -update")
	}
}

// Each id occurs once and has a text.
func TestFeaturesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Chapters() {
		for f := range c.all() {
			if seen[f.ID] || f.Text == "" || strings.Contains(f.Text, "|") {
				t.Errorf("%s: a second one, or without a text for a table", f.ID)
			}
			seen[f.ID] = true
		}
	}
}

// Carriers finds the whole ids in the name and in the source of a test, and none in functions that
// are no tests.
func TestCarriersAreTestsWithTheID(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "mpi")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const source = `package mpi

// TestPlain is A-02, and X-A-03 as well.
func TestPlain() {}

func TestA01A04_Named() {}

func TestXA01_Other() {}

func TestP2P02_XP2P03_Messages() {}

func TestInside() { run("A-05: a part of it") } // and not A-06

// A-07
func BenchmarkNone() {}

// A-08
var none int

func TestBA09_Longer() {}
`
	for name, text := range map[string]string{"a_test.go": source, "a.go": "package mpi\n\n// A-07\nfunc TestNone() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(root, "conformance")
	if err := os.MkdirAll(program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(program, "ring.c"), []byte("/* A-02, A-10 */\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"A-01": {"mpi TestA01A04_Named"}, "A-02": {"conformance ring.c", "mpi TestPlain"}, "A-10": {"conformance ring.c"}, "A-03": nil, "A-04": {"mpi TestA01A04_Named"}, "A-05": {"mpi TestInside"},
		"A-06": nil, "A-07": nil, "A-08": nil, "A-09": nil, "P2P-02": {"mpi TestP2P02_XP2P03_Messages"}, "X-P2P-03": {"mpi TestP2P02_XP2P03_Messages"}, "P2P-03": nil, "X-A-01": {"mpi TestXA01_Other"}, "X-A-03": {"mpi TestPlain"},
	}
	var c Chapter
	for id := range want {
		c.Features = append(c.Features, Feature{id, "something"})
	}
	got := Carriers(files, []Chapter{c})
	for id, tests := range want {
		if !slices.Equal(got[id], tests) {
			t.Errorf("%s is carried by %v, want %v", id, got[id], tests)
		}
	}
	page := Conformance(files, []Chapter{{"Some", []Feature{{"A-01", "first"}}, []Plan{{withTools, []Feature{{"A-99", "last"}}}}}})
	if !strings.Contains(page, "\n## Some\n") || !strings.Contains(page, "| A-01 | first | mpi: TestA01A04_Named |\n| A-99 | last | *planned with the tools interface* |\n") {
		t.Errorf("the page is\n%s", page)
	}
}
