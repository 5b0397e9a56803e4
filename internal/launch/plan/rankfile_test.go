package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func rankFile(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "ranks")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRankFilesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "names no host",
		"rank 0=a\nrank 2=b":         "names no host for rank 1, but has lines for 2",
		"rank 0=a\nrank 0=b":         ":2: rank 0 has a host already, a",
		"0=a":                        `:1: "0=a" is not of the form rank N=HOST slot=CORES`,
		"rank x=a":                   "is not of the form",
		"rank 0=":                    "is not of the form",
		"rank 0=a cpus=3":            "is not of the form",
		"rank 0=a slot=1 more":       "is not of the form",
		"rank 0=+n0 slot=1":          ":1: +n0 numbers a host: write its name",
		"rank 99999999999999999999=": "is not of the form",
	} {
		if _, err := Parse([]string{"-rankfile", rankFile(t, text), "p"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	file := rankFile(t, "rank 0=a")
	for _, args := range [][]string{{"-host", "b", "-rankfile", file, "p"}, {"-hostfile", rankFile(t, "b"), "-rankfile", file, "p"}} {
		if _, err := Parse(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
