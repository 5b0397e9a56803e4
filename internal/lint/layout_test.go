package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The packages of layers() exist, and the layout in docs/contributing.md names the folders below
// internal and no others.
func TestTablesNameWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, f := range files {
		if f.Go != nil {
			packages[f.Dir()] = true
		}
	}
	for _, l := range layers() {
		for _, p := range l.packages {
			if !strings.HasSuffix(p, "/...") && !packages[p] {
				t.Errorf("layers() has %s, which is no package", p)
			}
		}
	}

	text, err := os.ReadFile(filepath.Join(root, "docs", "contributing.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, layout, _ := strings.Cut(string(text), "\ninternal/\n")
	layout, _, _ = strings.Cut(layout, "```")
	var named []string
	for line := range strings.Lines(layout) {
		if folders := regexp.MustCompile(`^  (\S+/ ?)+`).FindString(line); folders != "" {
			for _, folder := range strings.Fields(folders) {
				named = append(named, expand(strings.TrimSuffix(folder, "/"))...)
			}
		}
	}
	for p := range packages {
		below, ok := strings.CutPrefix(p, "internal/")
		if ok && !slices.ContainsFunc(named, func(n string) bool { return below == n || n != "fabric" && strings.HasPrefix(below, n+"/") }) && below != "fabric/fabrictest" {
			t.Errorf("the layout in docs/contributing.md does not name internal/%s", below)
		}
	}
	for _, n := range named {
		if !packages[path.Join("internal", n)] {
			t.Errorf("the layout in docs/contributing.md names internal/%s, which is no package", n)
		}
	}
}

// expand returns the brace expansion of a word with at most one list in braces.
func expand(word string) []string {
	before, rest, ok := strings.Cut(word, "{")
	if !ok {
		return []string{word}
	}
	list, after, _ := strings.Cut(rest, "}")
	var all []string
	for _, x := range strings.Split(list, ",") {
		all = append(all, before+x+after)
	}
	return all
}
