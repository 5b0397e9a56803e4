package abi

import (
	"strings"
	"testing"
)

// The table has all 664 procedures of the standard's ABI, large forms among them.
func TestTableIsWhole(t *testing.T) {
	list, err := Procedures()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, p := range list {
		for _, q := range []*Procedure{p, p.Large} {
			if q != nil && strings.HasPrefix(q.Name, "MPI_") {
				count++
			}
		}
	}
	if count != 664 {
		t.Errorf("the table has %d procedures of the standard, want 664", count)
	}
}
