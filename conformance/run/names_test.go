//go:build linux

package run

import (
	"context"
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

// goNames matches words that belong to Go programs only: names of package mpi, types of Go or of the
// engine, and objects that C does not have. Values of the program are in quotes.
var goNames = regexp.MustCompile(`\bmpi\.[A-Z]\w*|(?:^|[^\w"])(?:[A-Z][a-z]+[A-Z]?\w*|slices?|goroutines?|nil)\b` +
	`|\b(?:u?int|float|complex|bool)(?:8|16|32|64|80|128|160|256)\b|\bbool\b|\[\]\w|\bof byte\b|\bx byte\b`)

var quoted = regexp.MustCompile(`"[^"]*"`)

// Error messages of programs in C use the names of C: the test runs all programs that make errors, also
// errors that checking mode finds.
func TestMessagesNameCallsAsInC(t *testing.T) {
	need(t)
	t.Parallel()
	var list []entry
	makes := map[string]int{"attr_languages": 0, "callbacks_extra": 0, "bad_arguments": 0, "bad_handles": 0, "callback_errors": 0, "coll_errors": 0, "comm_handles": 0, "environment": 0,
		"errhan_none": 0, "f2c": 0, "finalize_pending": 0, "info_strings": 0, "intercomm_make": 0, "mpix_listings": 0, "mpix_sync": 0,
		"mpix_window": 0, "partitioned": 0, "rma_errors": 0, "rma_window": 0, "status": 0, "type_large": 0, "local_calls": 0}
	checked := []entry{{"check_collectives", 3, nil}, {"check_types", 3, nil}}
	for _, e := range append(readList(t, "../list"), readList(t, "../list.halo")...) {
		if n, ok := makes[e.name]; ok && n == 0 {
			makes[e.name] = e.n
			list = append(list, e)
		}
	}
	at, messages := programs(t, append(list, checked...)), 0
	read := func(e entry, env ...string) {
		r := launched(t, "shm", e.n, append(env, "HALO_SHOW_ERRORS=1"), at[e.name], e.args...)
		if r.status != 0 {
			t.Errorf("%s: status %d\n%s%s", e.name, r.status, r.out, r.err)
		}
		said := map[string]bool{}
		for _, line := range strings.Split(strings.TrimSpace(r.err), "\n") {
			if !strings.Contains(line, "(MPI_ERR_") && !strings.Contains(line, "(MPIX_ERR_") || said[line] {
				continue
			}
			said[line] = true
			messages++
			text := strings.ReplaceAll(quoted.ReplaceAllString(line, ""), "Halo does not have it", "")
			if found := goNames.FindString(text); found != "" {
				t.Errorf("%s: %q in\n%s", e.name, found, line)
			}
			if !regexp.MustCompile(`mpi: MPIX?_\w+`).MatchString(line) {
				t.Errorf("%s: no call of C in\n%s", e.name, line)
			}
		}
	}
	for _, e := range list {
		read(e)
	}
	plain := messages
	for _, e := range append(list, checked...) {
		if e.name != "mpix_window" { // its gets into one variable are an error in checking mode
			read(e, "HALO_CHECK=1")
		}
	}
	if messages < 3*plain/2+100 {
		t.Errorf("%d messages without the checking mode, %d more with it: they are not shown", plain, messages-plain)
	}
	if plain < 100 {
		t.Errorf("%d messages: they are not shown", plain)
	}
}

// An error names an invalid address as it was given, and peer and tag if the call has them.
func TestMessagesTellWhatWasGiven(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "messages"}})["messages"]
	for call, says := range map[string]string{
		"send":      "mpi: MPI_Send on MPI_COMM_WORLD to 0 tag 7: 3 x MPI_INT at address 0x10, which is not valid (MPI_ERR_BUFFER)",
		"recv":      "mpi: MPI_Recv on MPI_COMM_WORLD from 0 tag 7: 3 x MPI_INT at address 0x8, which is not valid (MPI_ERR_BUFFER)",
		"null":      "mpi: MPI_Send on MPI_COMM_WORLD to 0 tag 7: 3 x MPI_INT at address 0x0, which is not valid (MPI_ERR_BUFFER)",
		"bcast":     "mpi: MPI_Bcast on MPI_COMM_WORLD",
		"alltoallv": "displacements at 0x20, which is no address",
		"group":     "ranks at 0x30, which is no address",
		"peer":      "to 99 tag 7",
		"tag":       "to 0 tag -9",
		"epoch":     "MPI_Win_lock",
	} {
		r := launched(t, "shm", 1, nil, program, call)
		if r.status == 0 || !strings.Contains(r.err, says) || goNames.MatchString(strings.SplitN(r.err, "\n", 2)[0]) {
			t.Errorf("%s: status %d, want %q in\n%s%s", call, r.status, says, r.out, r.err)
		}
	}
}

// Messages of the launcher about ranks in C have the names of C, too.
func TestLauncherNamesCallsAsInC(t *testing.T) {
	need(t)
	t.Parallel()
	at := programs(t, []entry{{name: "exits"}, {name: "ring"}})
	for how, says := range map[string]string{
		"zero":    "(it had called MPI_Init but not MPI_Finalize: call it before the program returns)",
		"abort:3": "called MPI_Abort(3)",
	} {
		for _, fabric := range []string{"shm", "tcp"} {
			r := launched(t, fabric, 2, nil, at["exits"], how)
			if r.status == 0 || !strings.Contains(r.err, says) {
				t.Errorf("%s over %s: status %d, want %q in\n%s", how, fabric, r.status, says, r.err)
			}
		}
	}
	for script, says := range map[string]string{
		`[ $HALO_RANK = 0 ] && exec "$0"`: "it had not called MPI_Init, and rank 0 waits for it there: all ranks of a job must call MPI_Init",
		`"$0" && "$0"`:                    "one program with MPI_Init per rank",
	} {
		r := launched(t, "shm", 2, nil, "sh", "-c", script, at["ring"])
		if r.status == 0 || !strings.Contains(r.err, says) {
			t.Errorf("%s: status %d, want %q in\n%s", script, r.status, says, r.err)
		}
	}
}

// halo ps shows the calls in which ranks in C wait by their names in C.
func TestTableOfWaitsNamesCallsAsInC(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "waits"}})["waits"]
	for fabric, lock := range map[string]string{"shm": "MPI_Win_lock", "tcp": "MPI_Win_flush"} { // the first call that waits for the lock
		ctx, cancel := context.WithCancel(t.Context())
		job := exec.CommandContext(ctx, bin("mpiexec"), "-n", "5", "-fabric", fabric, program)
		job.Cancel = func() error { return job.Process.Signal(os.Interrupt) }
		if err := job.Start(); err != nil {
			t.Fatal(err)
		}
		want := []string{"MPI_Recv on MPI_COMM_WORLD from 0 tag 0", "MPI_Recv on MPI_COMM_WORLD from 1 tag 0", "MPI_Barrier", lock}
		missing := func(text string) bool {
			return slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(text, w) })
		}
		text := ""
		for end := time.Now().Add(testrun.Long); missing(text) && time.Now().Before(end); {
			if text != "" {
				time.Sleep(20 * time.Millisecond) // the ranks come to where they wait sooner without halo ps
			}
			text = command(t, nil, bin("halo"), "ps", fmt.Sprint(job.Process.Pid)).out
		}
		_, rows, _ := strings.Cut(text, "WAITS FOR\n")
		if found := goNames.FindString(rows); missing(text) || found != "" {
			t.Errorf("%s: want %q, and found %q in\n%s", fabric, want, found, text)
		}
		cancel()
		job.Wait()
	}
}
