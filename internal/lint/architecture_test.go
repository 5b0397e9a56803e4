package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/architecture.md and docs/decisions name exists, and the former is short.
func TestArchitectureNamesWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages of decisions, %v", len(pages), err)
	}
	leading := filepath.Join(root, "docs", "architecture.md")
	for _, name := range append(pages, leading) {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		report := func(line int, format string, args ...any) {
			t.Errorf("%s:%d: %s", filepath.Base(name), line, fmt.Sprintf(format, args...))
		}
		checkPlaced(root, page, report)
		if name == leading {
			checkArchitecture(root, page, report)
		}
	}
}

// The check of docs/architecture.md finds each kind of error in pages that have it.
func TestArchitectureWithErrors(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a.go":   "package a\n\ntype Window[T any] struct{}\n\nfunc (w *Window[T]) Lock() { call() }\n\nfunc call() {}\n\nvar state int\n",
		"bad.go": "package a\n\nfunc (\n",
		"a.c": "int prototype(int n);\n#define MACRO(x) x\nstruct record {\n\tint n;\n};\n\nstatic __attribute__((noinline)) void *define(int n,\n\tint m)\n{\n" +
			"\tprototype(n);\n}\nvoid one_line(void) { prototype(1); }\nlabel:\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	row := func(file, name string) string { return "| a question | `" + file + "` | `" + name + "` |\n" }
	const head = "# A page\n\n## Where is\n\n| Where is | File | Name |\n|---|---|---|\n"
	full := head + strings.Repeat(row("a.go", "Window"), architectureRows-1)
	for _, c := range []struct{ page, want string }{
		{full + row("a.go", "Window.Lock"), ""},
		{full + row("a.go", "call"), ""},
		{full + row("a.c", "define"), ""},
		{full + row("a.c", "one_line"), ""},
		{full + row("a.c", "record"), ""},
		{full + row("a.c", "MACRO"), ""},
		{full + row("a.c", "label"), ""},
		{full + row("a.c", "prototype"), "a.c does not declare prototype"},
		{full + row("a.c", "defin"), "a.c does not declare defin"},
		{full + row("a.go", "Lock"), "a.go does not declare Lock"},
		{full + row("a.go", "Window.Unlock"), "a.go does not declare Window.Unlock"},
		{full + row("a.go", "state"), "a.go does not declare state"},
		{full + row("none.go", "Lock"), "none.go does not exist"},
		{full + row("bad.go", "Lock"), "bad.go:3"},
		{full + row("a.txt", "Lock"), `"a.txt" is no source file`},
		{full + "| a question | `a.go` | |\n", "no name in backquotes"},
		{full + row("a.go", "call") + "| | `a.go` | `call` |\n", "a question, a file and a name"},
		{full + row("a.go", "call") + "| a question | `a.go` |\n", "a question, a file and a name"},
		{full + row("a.go", "call") + "| **a title** | | |\n", ""},
		{full + "| **a title** | | |\n", fmt.Sprintf("%d rows", architectureRows-1)},
		{full, fmt.Sprintf("%d rows", architectureRows-1)},
		{full + row("a.go", "call") + strings.Repeat("\n", architectureLines), "lines: at most"},
		{full + row("a.go", "call") + "## Ways\n\n1. `a.go` `call`, `Window.Lock`: text with `none`.\n| a | `none.go` | `none` |\n", ""},
		{full + row("a.go", "call") + "## Ways\n\n1. `a.go` `call`, `Window.Unlock`: text.\n", "a.go does not declare Window.Unlock"},
		{full + row("a.go", "call") + "## Ways\n\n1. `call` does it.\n", "a step of a way"},
		{full + row("a.go", "call") + "## Text\n\nSee `call` in `a.go`, and `define` of `a.c`.\n", ""},
		{full + row("a.go", "call") + "## Text\n\nSee `call` in `a.go`, and `defined` of `a.c`.\n", "a.c does not declare defined"},
	} {
		var found []string
		report := func(line int, format string, args ...any) {
			found = append(found, fmt.Sprintf(format, args...))
		}
		checkArchitecture(root, []byte(c.page), report)
		checkPlaced(root, []byte(c.page), report)
		tail := c.page[strings.LastIndex(strings.TrimRight(c.page, "\n"), "\n")+1:]
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)) {
			t.Errorf("a page that ends with %q: found %q, want %q", tail, found, c.want)
		}
	}
}
