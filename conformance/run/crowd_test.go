//go:build linux

package run

import (
	"strings"
	"testing"
)

// With more than 8 ranks for each core the node is oversubscribed, and ranks sleep in another way.
// Programs: threads of each rank that call at once, messages, collectives, and one-sided
// communication with random programs and with targets that compute. In the last
// program each rank has descriptors for fewer peers than there are.
func TestCrowd(t *testing.T) {
	need(t, "taskset")
	t.Parallel()
	list := []entry{{name: "threads"}, {name: "sendrecv"}, {name: "coll_nonblocking"}, {name: "rma_lock"}, {name: "rma_progress"},
		{name: "fast_random"}, {name: "few_files"}}
	at := programs(t, list)
	args := map[string][]string{"fast_random": {"19", "20"}, "few_files": {"16"}}
	for _, e := range list {
		line := append([]string{"-c", "0", bin("mpiexec"), "-n", "10", at[e.name]}, args[e.name]...)
		r := command(t, nil, "taskset", line...)
		if r.status != 0 || strings.TrimSpace(r.out) != "no errors" || r.err != "" {
			t.Errorf("%s: status %d\n%s%s", e.name, r.status, r.out, r.err)
		}
	}
}
