package abi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table has all 664 procedures of the standard's ABI, including the large forms.
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

// The header declares each function of synchronisation objects under the name of the
// extension, under that of the proposal, and under the PMPIX name for tools.
func TestSYN07_SynchronisationObjectsInC(t *testing.T) {
	list, err := Procedures()
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]string{}
	for _, p := range list {
		calls[p.Name] = p.Call
	}
	header, err := os.ReadFile(filepath.Join("include", "mpi.h"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Win_alloc_sync_objects", "Win_free_sync_objects", "Win_sync_ops_init",
		"Win_sync_object_init", "Win_change_comm", "Sync_c2f", "Sync_f2c"} {
		if calls["MPIX_"+name] == "" && !strings.HasPrefix(name, "Sync_") { // C converts without the engine
			t.Errorf("MPIX_%s calls nothing", name)
		}
		for _, want := range []string{" PMPIX_" + name + "(", " MPIX_" + name + "(", "#define MPI_" + name + " "} {
			if !strings.Contains(string(header), want) {
				t.Errorf("mpi.h has no %q", want)
			}
		}
	}
}
