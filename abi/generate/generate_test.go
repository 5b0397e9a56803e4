package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The generated files agree with the tables.
func TestFilesAreOfTheTables(t *testing.T) {
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	files, err := all.generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("abi/%s is not what the tables say: go run ./abi/generate", name)
		}
	}
}
