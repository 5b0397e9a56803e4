package lint

import (
	"path/filepath"
	"slices"
	"testing"
)

// The folders of debts contain as many names with retired words as their entries say: more is a
// new one, and fewer lowers the entry.
func TestRetiredWordsBecomeFewer(t *testing.T) {
	files, err := Load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range debts() {
		var names []string
		for _, f := range files {
			if f.Dir() == d.dir {
				for _, n := range retiredNames(f) {
					if !slices.Contains(names, n.name) {
						names = append(names, n.name)
					}
				}
			}
		}
		slices.Sort(names)
		switch {
		case len(names) > d.names:
			t.Errorf("%s contains %d names with retired words, and debts() allows %d: %v", d.dir, len(names), d.names, names)
		case len(names) < d.names:
			t.Errorf("%s contains %d names with retired words: lower the %d of debts(), or delete the entry", d.dir, len(names), d.names)
		}
	}
}

// Words are found in every style of identifier, and only whole ones.
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
