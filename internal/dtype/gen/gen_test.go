package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The files in the repository equal the output of the generator.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the generator writes: run go generate in internal/dtype", name)
		}
	}
}
