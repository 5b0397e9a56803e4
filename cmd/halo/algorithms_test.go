package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/coll/choice"
)

// halo info shows every tunable with what is in force, and names a bad value.
func TestInfoShowsAlgorithms(t *testing.T) {
	env := map[string]string{"HALO_COLL_BCAST": "linear:ranks<3,chain"}
	var out bytes.Buffer
	if err := printAlgorithms(&out, func(n string) string { return env[n] }); err != nil {
		t.Fatal(err)
	}
	for _, tu := range choice.Tunables() {
		want := "  " + tu.Env()
		if tu.Env() == "HALO_COLL_BCAST" {
			want = "* " + tu.Env()
		}
		if !strings.Contains(out.String(), "\n"+want) {
			t.Errorf("no line begins with %q:\n%s", want, out.String())
		}
	}
	if !strings.Contains(out.String(), "linear:ranks<3, chain\n") {
		t.Errorf("the override does not show:\n%s", out.String())
	}
	env["HALO_COLL_SLOT"] = "cell"
	if err := printAlgorithms(&out, func(n string) string { return env[n] }); err == nil || !strings.Contains(err.Error(), "HALO_COLL_SLOT=cell") {
		t.Errorf("a bad value: %v", err)
	}
}
