package main

import (
	"slices"
	"strings"
	"testing"
)

// The bars of file rows refer to rows that exist, rows of the disk are runs of their own, and lines find
// their rows.
func TestFileRows(t *testing.T) {
	names := rowNames(allRows())
	for _, r := range fileRows() {
		for _, b := range r.bars {
			if b.of != "best" && !slices.Contains(names, b.of) {
				t.Errorf("%s has a bar of %q, which is no row", r.name, b.of)
			}
		}
		if disk := strings.Contains(r.variant, " in "); disk != (r.args != "") {
			t.Errorf("%s has the arguments %q", r.name, r.args)
		}
	}
	lines, err := parseLines(strings.NewReader(`{"bench":"file-at","fabric":"shm","ranks":1,"size":1024,"layout":"write by hand","us":0.7}
{"bench":"file-array","fabric":"shm","ranks":4,"size":128,"layout":"4-D read","us":4000}
{"bench":"file-blocks","fabric":"shm","ranks":4,"size":4096,"layout":"write in /var/tmp","us":9000}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := newResults(fileRows(), columns())
	r.startRound()
	r.add("halo", 0, lines)
	for name, want := range map[string]float64{"file-at write by hand 1 KiB 1 ranks": 0.7, "file-array 4-D read 128^3 4 ranks": 4000,
		"file-blocks write in /var/tmp 4 KiB 4 ranks": 9000} {
		if got := r.figures["halo"][rowIndex(t, r, name)][0]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
