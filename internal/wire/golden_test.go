package wire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares named byte strings with a file of lines "name hex".
func golden(t *testing.T, file string, names []string, values [][]byte) {
	t.Helper()
	var b strings.Builder
	for i, name := range names {
		b.WriteString(name + " " + hex.EncodeToString(values[i]) + "\n")
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(b.String())) {
		t.Errorf("%s: the layout has changed, and with it the version must:\nhave\n%s\nwant\n%s", path, b.String(), want)
	}
}
