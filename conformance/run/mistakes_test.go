//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mistakes returns the lines of a source that end with the name of a mistake and a rank in a comment, by
// these two words.
func mistakes(t *testing.T, source string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	mark := regexp.MustCompile(`; /\* (\w+ [01]) \*/$`)
	for i, line := range strings.Split(string(text), "\n") {
		if m := mark.FindStringSubmatch(line); m != nil {
			at[m[1]] = fmt.Sprintf("%s:%d", filepath.Base(source), i+1)
		}
	}
	return at
}

// BRD-08: in checking mode the reports of mistakes in C name the lines of both ranks.
func TestBRD08_MistakesAreNamedByBothLines(t *testing.T) {
	need(t)
	t.Parallel()
	both := map[string]string{ // what is said of a mistake, and in it the places of the two ranks
		"type":      `rank 0 sends 4 x MPI_INT\w*, rank 1 receives 8 x MPI_DOUBLE\w*: rank 0 at %s, rank 1 at %s`,
		"length":    `128|16000 bytes into a 12000-byte buffer: rank 0 sends 4000 x MPI_INT, rank 1 receives 3000 x MPI_INT: rank 0 at %s, rank 1 at %s`,
		"order":     `rank 0 calls MPI_Bcast, rank 1 calls MPI_Barrier: rank 0 at %s, rank 1 at %s`,
		"root":      `rank 0 names root 0, rank 1 names root 1: rank 0 at %s, rank 1 at %s`,
		"count":     `rank \d gives \d x \w+, rank \d gives \d x \w+: rank 0 at %s, rank 1 at %s`,
		"operation": `rank 0 combines by \w+, rank 1 by \w+: rank 0 at %s, rank 1 at %s`,
	}
	at := mistakes(t, "../check_mistakes.c")
	program := compile(t, "mpicc", "../check_mistakes.c", "-g")
	for mistake, says := range both {
		want := fmt.Sprintf(says, regexp.QuoteMeta(at[mistake+" 0"]), regexp.QuoteMeta(at[mistake+" 1"]))
		for _, fabric := range []string{"shm", "tcp"} {
			if r := launched(t, fabric, 2, []string{"HALO_CHECK=1"}, program, mistake); !regexp.MustCompile(want).MatchString(r.err) {
				t.Errorf("%s over %s: status %d\n%s%s\nwant %s", mistake, fabric, r.status, r.out, r.err, want)
			}
		}
	}
}
