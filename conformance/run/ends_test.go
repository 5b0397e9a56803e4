//go:build linux

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that ends without MPI_Finalize, also by MPI_Abort on another thread while the main
// one waits in a call, ends the job, with its status and a reason.
func TestEndsWithoutFinalize(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "exits"}})["exits"]
	for _, c := range []struct {
		how    string
		status int
		says   string
	}{
		{"thread", 11, "called MPI_Abort(11)"},
		{"abort:0", 0, "called MPI_Abort(0)"},
		{"abort:256", 1, "called MPI_Abort(256)"}, // the lowest 8 bits are 0, which would be success
		{"abort:-1", 255, "called MPI_Abort(-1)"},
		{"exit", 12, "exited with status 12"},
		{"return", 13, "exited with status 13"},
		{"_exit", 14, "exited with status 14"},
		{"zero", 1, "exited with status 0"}, // would be success after MPI_Finalize
		{"abort", 128 + 6, "SIGABRT"},
		{"segv", 128 + 11, "SIGSEGV"},
		{"kill", 128 + 9, "SIGKILL"},
	} {
		for _, fabric := range []string{"shm", "tcp"} {
			r := launched(t, fabric, 3, nil, program, c.how)
			if r.status != c.status || r.out != "" || !strings.Contains(r.err, c.says) {
				t.Errorf("%s over %s: status %d\n%s%s", c.how, fabric, r.status, r.out, r.err)
			}
		}
	}
}

// Members of a collective that C has begun and in which Go waits end when one of them dies, and so do ranks
// that wait for receives that C has posted.
func TestEndsInShortCollectives(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "exits"}})["exits"]
	for _, where := range []string{"barrier", "bcast", "allreduce", "waitall"} {
		for _, n := range []int{2, 5} {
			for _, on := range []string{"1", "0"} {
				r := launched(t, "shm", n, []string{"HALO_C_FAST=" + on}, program, "kill", where)
				if r.status != 128+9 || r.out != "" || !strings.Contains(r.err, "SIGKILL") {
					t.Errorf("%s of %d ranks, HALO_C_FAST=%s: status %d\n%s%s", where, n, on, r.status, r.out, r.err)
				}
			}
		}
	}
}

// If two threads are in collectives on one communicator, one of them ends the program with a message
// that names both calls as in C.
func TestEndsInTwoCollectives(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "coll_threads"}})["coll_threads"]
	for _, fabric := range []string{"shm", "tcp"} {
		r := launched(t, fabric, 2, nil, program, "fatal")
		const both, after = "two threads are in collectives on MPI_COMM_WORLD at once (MPI_", "); give each a communicator of its own, by MPI_Comm_dup (MPI_ERR_OTHER)"
		if r.status != 16 || !strings.Contains(r.err, both+"Allreduce and MPI_Barrier"+after) && !strings.Contains(r.err, both+"Barrier and MPI_Allreduce"+after) {
			t.Errorf("%s: status %d\n%s", fabric, r.status, r.err)
		}
	}
}

// An error in a session whose handler is MPI_ERRORS_ABORT ends the process with a message, in which Open MPI has
// used a null pointer (X-CONF-01, ompi#14009).
func TestXCONF01_ErrorsAbortOnASession(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "gaps"}})["gaps"]
	for _, fabric := range []string{"shm", "tcp"} {
		const says = "rank 2: mpi: MPI_Session_get_nth_pset on session 1: process set -1 of "
		if r := launched(t, fabric, 3, nil, program, "abort"); r.status != 13 || r.out != "" || !strings.Contains(r.err, says) {
			t.Errorf("%s: status %d\n%s%s", fabric, r.status, r.out, r.err)
		}
	}
}

// Without an environment, without arguments, and without open files the library works as usual.
func TestBareProcess(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../ring.c")
	bare := filepath.Join(t.TempDir(), "bare.c")
	if err := os.WriteFile(bare, []byte("#include <unistd.h>\nint main(int n, char **v) { char *none[] = {0}; return n < 2 || execve(v[1], none, none); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const alone = "the token is 0 after 1 ranks\n"
	for name, r := range map[string]result{
		"no environment": command(t, nil, "env", "-i", program),
		"no arguments":   command(t, nil, compile(t, "mpicc", bare), program),
		"no input":       command(t, nil, "sh", "-c", "exec "+program+" <&-"),
		"no errors":      command(t, nil, "sh", "-c", "exec "+program+" 2>&-"),
	} {
		if r != (result{out: alone}) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := command(t, nil, "sh", "-c", "exec "+program+" <&- >&- 2>&-"); r.status != 0 {
		t.Errorf("no files at all: %+v", r)
	}
	if r := launched(t, "shm", 2, nil, "env", "sh", "-c", "exec "+program+" <&-"); r != (result{out: "the token is 1 after 2 ranks\n"}) {
		t.Errorf("no input, in a job: %+v", r)
	}
}

// Few descriptors, or little address space, are enough, or an error says what is missing.
func TestNarrowLimits(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../ring.c")
	for _, fabric := range []string{"shm", "tcp"} {
		for _, n := range []int{8, 10, 32} { // too few for both, for sockets alone, and enough
			r := launched(t, fabric, 2, nil, "sh", "-c", fmt.Sprintf("ulimit -n %d; exec %s", n, program))
			switch {
			case r.status == 0 && r.err == "" && r.out == "the token is 1 after 2 ranks\n":
			case n < 32 && r.status != 0 && strings.Contains(r.err, "MPI_ERR_") && strings.Count(r.err, "\n") < 10:
			default:
				t.Errorf("%d descriptors over %s: status %d\n%s%s", n, fabric, r.status, r.out, r.err)
			}
		}
		if r := launched(t, fabric, 2, nil, "sh", "-c", "ulimit -v 2500000; exec "+program); r != (result{out: "the token is 1 after 2 ranks\n"}) {
			t.Errorf("2.5 GB of addresses over %s: %+v", fabric, r)
		}
	}
	for _, kib := range []int{100000, 700000, 1500000} {
		r := command(t, nil, "sh", "-c", fmt.Sprintf("ulimit -v %d; exec %s", kib, program))
		if r.status != 1 || r.out != "" || !strings.Contains(r.err, fmt.Sprintf("%d KiB are allowed (ulimit -v)", kib)) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%d KiB of addresses: status %d\n%s%.300s", kib, r.status, r.out, r.err)
		}
	}
}
