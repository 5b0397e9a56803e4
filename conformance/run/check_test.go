//go:build linux

package run

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// unchecked are programs that TestBRD08_NoFalseReports leaves out, and why.
var unchecked = map[string]string{
	"rma_done":         "its requests conflict on purpose: the reports are true",
	"fast_litmus":      "it reads what others put at the same time, on purpose: the reports are true",
	"handles_many":     "it makes so many objects that the places of all take half a minute",
	"message_types":    "its types differ on purpose: all that differ in name are reported, too",
	"finalize_pending": "it expects the errors of MPI_Finalize without their places",
}

// allowed are what correct programs have printed in checking mode: an object that the program leaves to
// MPI_Finalize, and what cannot be compared.
var allowed = regexp.MustCompile(`^(halo: rank \d+: never (freed|waited for): .*|halo: HALO_CHECK: nothing is compared on .*)?$`)

// BRD-08: checking mode reports nothing of correct programs: all of the lists, which do what they do without it.
func TestBRD08_NoFalseReports(t *testing.T) {
	need(t)
	t.Parallel()
	var list []entry
	for _, e := range append(readList(t, "../list"), readList(t, "../list.halo")...) {
		if unchecked[e.name] == "" {
			list = append(list, e)
		}
	}
	at := programs(t, list)
	if t.Failed() {
		return
	}
	for i, e := range list {
		fabric := []string{"shm", "tcp"}[i%2]
		source, err := os.ReadFile("../" + e.name + ".c")
		if err != nil {
			t.Fatal(err)
		}
		checks := strings.Contains(string(source), `#include "check.h"`)
		t.Run(fabric+"/"+strings.Join(append([]string{fmt.Sprintf("%s-%d", e.name, e.n)}, e.args...), "-"), func(t *testing.T) {
			t.Parallel()
			r := launched(t, fabric, e.n, []string{"HALO_CHECK=1"}, at[e.name], e.args...)
			if r.status != 0 || checks && r.out != "no errors\n" {
				t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
				return
			}
			for line := range strings.SplitSeq(r.err, "\n") {
				if !allowed.MatchString(line) {
					t.Errorf("%s: on the standard error of a correct program:\n%s", line, r.err)
					return
				}
			}
		})
	}
}
