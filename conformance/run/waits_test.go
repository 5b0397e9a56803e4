//go:build linux

package run

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// Promise F6: halo ps names the call of a program in C that blocks, for each call: not the operations of which it consists. A wait for a
// request names the operation that the request stands for.
func TestF6_EveryWaitHasTheNameOfItsCall(t *testing.T) {
	need(t)
	t.Parallel()
	source, err := os.ReadFile("../waits_calls.c")
	if err != nil {
		t.Fatal(err)
	}
	operations := map[string]string{
		"MPI_Issend": "MPI_Ssend", "MPI_Irecv": "MPI_Recv", "MPI_Ssend_init": "MPI_Ssend", "MPI_Recv_init": "MPI_Recv",
		"MPI_Waitall": "MPI_Recv", "MPI_Waitany": "the first of 2 requests, one is MPI_Recv", "MPI_Waitsome": "the first of 2 requests, one is MPI_Recv",
		"MPI_Ibarrier": "MPI_Barrier", "MPI_Iallreduce": "MPI_Allreduce",
	}
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^\tX\((MPIX?_\w+), `).FindAllStringSubmatch(string(source), -1) {
		names = append(names, found[1])
	}
	if len(names) < 80 {
		t.Fatalf("the program has %d calls", len(names))
	}
	program := programs(t, []entry{{name: "waits_calls"}})["waits_calls"]
	for part := range slices.Chunk(names, 30) {
		want := make([]string, 0, len(part))
		for _, name := range part {
			if other := operations[name]; other != "" {
				name = other
			}
			want = append(want, name)
		}
		if differs := waitsOf(t, program, part, want); differs != "" {
			t.Error(differs)
		}
	}
}

// waitsOf starts ranks that block in calls, and one more, and returns in what halo ps differs from the names of what they wait for.
func waitsOf(t *testing.T, program string, calls, want []string) (differs string) {
	t.Helper()
	args := append([]string{"-n", fmt.Sprint(len(calls) + 1), "-fabric", "shm", program, t.TempDir()}, calls...)
	job := exec.Command(bin("mpiexec"), args...)
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- job.Wait() }()
	defer func() {
		job.Process.Signal(os.Interrupt)
		<-ended
	}()
	for end := time.Now().Add(testrun.Long); time.Now().Before(end); {
		select {
		case err := <-ended:
			ended <- err
			return fmt.Sprintf("a rank has not blocked in one of %v: %v", calls, err)
		case <-time.After(20 * time.Millisecond):
		}
		var jobs []struct {
			Ranks []struct {
				Waits []struct{ For string }
			}
		}
		json.Unmarshal([]byte(command(t, nil, bin("halo"), "ps", "-json", fmt.Sprint(job.Process.Pid)).out), &jobs)
		if len(jobs) != 1 || len(jobs[0].Ranks) != len(calls)+1 {
			continue
		}
		differs = ""
		if len(jobs[0].Ranks[len(calls)].Waits) > 0 {
			differs = fmt.Sprintf("the last rank waits for %v", jobs[0].Ranks[len(calls)].Waits)
		}
		for k, name := range want {
			says := "nothing"
			if w := jobs[0].Ranks[k].Waits; len(w) == 1 {
				says = w[0].For
			}
			if rest, found := strings.CutPrefix(says, name); !found || rest != "" && rest[0] != ' ' && rest[0] != ',' {
				differs += fmt.Sprintf("in %s a rank waits for %s\n", calls[k], says)
			}
		}
		if differs == "" {
			return ""
		}
	}
	return differs
}
