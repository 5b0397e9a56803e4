package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Carriers finds the tests of each feature: those whose name contains its id without dashes
// (TestRW01_, TestXRMA06_), or whose comment or source mentions it, and the programs in C and
// Fortran that mention it. It returns them as folder and name, sorted.
func Carriers(files []*File, chapters []Chapter) map[string][]string {
	found := map[string]map[string]bool{}
	add := func(mentioned map[string]bool, test string) {
		for _, c := range chapters {
			for feature := range c.all() {
				if !mentioned[feature.ID] && !mentioned[strings.ReplaceAll(feature.ID, "-", "")] {
					continue
				}
				if found[feature.ID] == nil {
					found[feature.ID] = map[string]bool{}
				}
				found[feature.ID][test] = true
			}
		}
	}
	for _, f := range files {
		if f.Dir() == "conformance" && path.Ext(f.Path) == ".c" || f.Dir() == "conformance/fortran" && strings.HasPrefix(strings.ToLower(path.Ext(f.Path)), ".f") {
			add(ids("", string(f.Text)), f.Dir()+" "+path.Base(f.Path))
		}
		if f.Go == nil || !f.Test() {
			continue
		}
		for _, decl := range f.Go.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !isTest(fn.Name.Name) {
				continue
			}
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			source := string(f.Text[f.fset.Position(from).Offset:f.fset.Position(fn.End()).Offset])
			add(ids(fn.Name.Name, source), f.Dir()+" "+fn.Name.Name)
		}
	}
	sorted := map[string][]string{}
	for id, tests := range found {
		sorted[id] = slices.Sorted(maps.Keys(tests))
	}
	return sorted
}

// isTest reports whether a function of that name is a test or fuzz target; examples and
// benchmarks do not count, because they do not fail.
func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
}

// ids returns the possible ids of a test: those in its name, without dashes, as in
// TestRC03RC04_Atomic, and every word of its source. So RC-03 does not contain C-03.
func ids(name, source string) map[string]bool {
	all := map[string]bool{}
	for _, word := range regexp.MustCompile(`X?P2P[0-9]{2}|[A-Z]+[0-9]{2}`).FindAllString(strings.TrimPrefix(name, "Test"), -1) {
		all[word] = true
	}
	for _, word := range regexp.MustCompile(`[\w-]+`).FindAllString(source, -1) {
		all[word] = true
	}
	return all
}

// Conformance returns the text of docs/conformance.md.
func Conformance(files []*File, chapters []Chapter) string {
	var b strings.Builder
	b.WriteString("# Conformance: what is promised, and which tests hold it\n\n" +
		"This page is generated from the tables in internal/lint/features_*.go and the sources of the\n" +
		"tests and of the programs in conformance/list, which carry the ids; `go test ./internal/lint`\n" +
		"compares it, and fails for an id without a test, and for one with a test that is only planned.\n" +
		"`go test ./internal/lint -update` writes it anew.\n")
	held, without := 0, 0
	for _, c := range chapters {
		held += len(c.Features)
		for _, p := range c.Planned {
			without += len(p.Features)
		}
	}
	fmt.Fprintf(&b, "It has %d ids: %d with tests, and %d that say why they have none.\n", held+without, held, without)
	carriers := Carriers(files, chapters)
	for _, c := range chapters {
		fmt.Fprintf(&b, "\n## %s\n\n| Id | What | Tests |\n|---|---|---|\n", c.Title)
		for _, f := range c.Features {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", f.ID, f.Text, inFolders(carriers[f.ID]))
		}
		for _, p := range c.Planned {
			for _, f := range p.Features {
				fmt.Fprintf(&b, "| %s | %s | *%s* |\n", f.ID, f.Text, p.Why)
			}
		}
	}
	return b.String()
}

// inFolders lists tests so that each folder occurs once.
func inFolders(tests []string) string {
	var b strings.Builder
	last := ""
	for _, t := range tests {
		dir, name, _ := strings.Cut(t, " ")
		switch {
		case dir != last && last != "":
			fmt.Fprintf(&b, "; %s: ", dir)
		case dir != last:
			fmt.Fprintf(&b, "%s: ", dir)
		default:
			b.WriteString(", ")
		}
		b.WriteString(name)
		last = dir
	}
	return b.String()
}
