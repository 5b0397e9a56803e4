package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// retiredWord finds words in every style of identifier, and whole words only.
func TestRetiredWord(t *testing.T) {
	for name, want := range map[string]string{
		"errand": "errand", "runErrands": "errands", "sweepPatience": "patience", "MPIPatience": "patience", "errandMPI": "errand",
		"test_errand2": "errand", "Test2Errand": "errand", "rides_linux": "rides", "mourner": "mourner",
		"override": "", "expression": "", "dozen": "", "pointErrAnd": "", "restir": "", "x": "", "_": "", "": "",
	} {
		if got, _ := retiredWord(name); got != want {
			t.Errorf("the retired word of %q is %q, want %q", name, got, want)
		}
	}
}

// The files that the glossary names as the place of a term exist.
func TestGlossaryNamesFilesThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	places := regexp.MustCompile("`([a-z0-9_/]+\\.go)`").FindAllStringSubmatch(string(text), -1)
	if len(places) == 0 {
		t.Error("the glossary names no file")
	}
	for _, m := range places {
		inside := filepath.Join(root, "internal", filepath.FromSlash(m[1]))
		outside := filepath.Join(root, filepath.FromSlash(m[1]))
		if _, err := os.Stat(inside); err != nil {
			if _, err := os.Stat(outside); err != nil {
				t.Errorf("docs/glossary.md names %s, which does not exist", m[1])
			}
		}
	}
}
