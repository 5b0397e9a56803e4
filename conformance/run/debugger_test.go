//go:build linux

package run

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// gdb shows the program's own frames, with file and line, while it waits in a call, over each fabric
// and also of programs that are optimised. The frames of the program are its
// compiler's whatever the fabric is, so one program is for each.
func TestDebuggerShowsWhoWaits(t *testing.T) {
	need(t, "gdb")
	t.Parallel()
	if runtime.GOARCH != "amd64" || sanitizing().flags != nil {
		t.Skip("abi/unwind knows the plain library on amd64 only")
	}
	// Over sockets the first call that needs a lock waits for it.
	for _, c := range []struct{ fabric, optimised, lock string }{{"shm", "-O2", "MPI_Win_lock"}, {"tcp", "-O0", "MPI_Win_flush"}} {
		program := compile(t, "mpicc", "../waits.c", "-g", c.optimised)
		t.Run(c.fabric+c.optimised, func(t *testing.T) { showsWhoWaits(t, program, c.fabric, c.lock) })
	}
}

func showsWhoWaits(t *testing.T, program, fabric, lock string) {
	source, err := os.ReadFile("../waits.c")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := exec.CommandContext(ctx, bin("mpiexec"), "-n", "5", "-fabric", fabric, program)
	job.Cancel = func() error { return job.Process.Signal(os.Interrupt) }
	out, err := job.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	defer job.Wait()
	defer cancel()
	lines, processes := bufio.NewScanner(out), map[int]int{}
	for len(processes) < 5 && lines.Scan() {
		var rank, pid int
		if _, err := fmt.Sscan(lines.Text(), &rank, &pid); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		processes[rank] = pid
	}
	// One debugger for all processes reads the symbols once.
	calls := []string{"MPI_Recv", "MPI_Wait", "MPI_Barrier", lock}
	const end = "---- next ----"
	args := []string{"-batch", "-nx"}
	for rank := range calls {
		asleep(t, processes[rank])
		if rank > 0 {
			args = append(args, "-ex", "echo "+end, "-ex", "add-inferior", "-ex", fmt.Sprint("inferior ", rank+1))
		}
		args = append(args, "-ex", fmt.Sprint("attach ", processes[rank]), "-ex", "bt")
	}
	r := command(t, nil, "gdb", args...)
	stacks := strings.Split(r.out, end)
	if len(stacks) != len(calls) {
		t.Fatalf("%d stacks, want %d:\n%s\n%s", len(stacks), len(calls), r.out, r.err)
	}
	for rank, call := range calls {
		mark := fmt.Sprintf("/* waits %d */", rank)
		if call == "MPI_Win_flush" {
			mark = fmt.Sprintf("/* waits %d over sockets */", rank)
		}
		line := 1 + strings.Count(strings.Split(string(source), mark)[0], "\n")
		if bt := stacks[rank]; !strings.Contains(bt, "P"+call+" (") || !strings.Contains(bt, fmt.Sprintf("waits.c:%d", line)) || !strings.Contains(bt, " main (") {
			t.Errorf("%s, line %d:\n%s\n%s", call, line, bt, r.err)
		}
	}
}

// asleep returns as soon as a process's main thread sleeps in the kernel.
func asleep(t *testing.T, pid int) {
	t.Helper()
	for t.Context().Err() == nil {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, pid))
		if err != nil {
			t.Fatal(err)
		}
		if _, state, ok := strings.Cut(string(text), ") "); ok && state[0] == 'S' {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A buffer without memory ends the process in one line that names rank, call, argument and
// address, then SIGSEGV; faults of the program are its own.
func TestWildBuffersEnd(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers report faults themselves")
	}
	program := compile(t, "mpicc", "../wild_ends.c", "-g")
	for _, c := range []struct {
		how, line string
		n         int
		status    int
	}{
		{"send", "rank 0: mpi: MPI_Send: buf is 0x200000, where no memory can be read (MPI_ERR_BUFFER)", 2, 139},
		{"recv", "rank 0: mpi: MPI_Recv: buf is 0x200000, where no memory can be written (MPI_ERR_BUFFER)", 2, 139},
		{"bcast", "rank 0: mpi: MPI_Bcast: buffer is 0x200000, where no memory can be read (MPI_ERR_BUFFER)", 2, 139},
		{"reduce", "rank 0: mpi: MPI_Reduce: sendbuf is 0x200000, where no memory can be read (MPI_ERR_BUFFER)", 2, 139},
		{"win_create", "rank 0: mpi: MPI_Win_create: base is 0x200000, where no memory can be read (MPI_ERR_BUFFER)", 2, 139},
		{"gatherv", "(MPI_ERR_BUFFER)", 2, 139}, // the thread that moves the data faults
		{"long_reduce_local", "", 1, 139},       // C faults during the call, and prints no line
		{"window", "(MPI_ERR_BUFFER)", 2, 139},  // the process that serves the put faults
		{"long_recv", "(MPI_ERR_BUFFER)", 2, 139},
		{"long_send", "(MPI_ERR_BUFFER)", 2, 139},
		{"result", "rank 0: mpi: MPI_Comm_dup: memory at 0x200000, which the call accesses, cannot be read (MPI_ERR_BUFFER)", 1, 139},
		{"own", "", 1, 139},
		{"handled", "the program's handler", 1, 7},
	} {
		for _, fabric := range []string{"shm", "tcp"} {
			if fabric == "tcp" && c.n == 1 {
				continue
			}
			if fabric == "tcp" && strings.HasPrefix(c.how, "long") {
				// C finds the address before the call, and calls the error handler, which ends the job.
				c.line, c.status = "MPI_COMM_WORLD", 1
			}
			r := launched(t, fabric, c.n, nil, program, c.how)
			// The other rank may wait for this one, and report its failure.
			blamed := strings.Contains(r.err, "rank 1 has failed")
			if r.status != c.status || !strings.Contains(r.err, c.line) || blamed || strings.Contains(r.err, "goroutine") || strings.Count(r.err, "\n") > 4 {
				t.Errorf("%s over %s: status %d\n%.1500s%s", c.how, fabric, r.status, r.err, r.out)
			}
		}
	}
}

// Memory of a window that is unmapped ends its owner, which has caused it, with one line that names
// the window and the address; a process that dies during puts and gets of others ends the job. No
// process hangs.
func TestTargetEndsAmidCopies(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers report faults themselves")
	}
	program := compile(t, "mpicc", "../rma_target_ends.c")
	for _, what := range []string{"put", "get"} {
		for _, owner := range []string{"waits", "computes"} {
			for _, fabric := range []string{"shm", "tcp"} {
				r := launched(t, fabric, 2, nil, program, what, owner, "unmapped")
				if r.status != 139 || !strings.Contains(r.err, "rank 0: mpi: memory at 0x") || strings.Count(r.err, "\n") > 4 ||
					!strings.Contains(r.err, "010 cannot be read: byte 16 of the 65536 that this rank exposes at 0x") || !strings.Contains(r.err, `in window "counters"`) {
					t.Errorf("%s, the owner %s, unmapped, over %s: status %d\n%.1500s%s", what, owner, fabric, r.status, r.err, r.out)
				}
				// The launcher ends the other rank, before or after that has printed its error.
				r = launched(t, fabric, 2, nil, program, what, owner, "killed")
				if r.status != 137 || !strings.Contains(r.err, "rank 0") || !strings.Contains(r.err, "SIGKILL") || strings.Contains(r.err, "another class") {
					t.Errorf("%s, the owner %s, killed, over %s: status %d\n%.1500s%s", what, owner, fabric, r.status, r.err, r.out)
				}
			}
		}
	}
}

// The core dump of a process with a buffer without memory shows the caller.
func TestWildBuffersLeaveCores(t *testing.T) {
	need(t, "gdb")
	t.Parallel()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.TrimSpace(string(pattern)) != "core" {
		t.Skipf("cores do not go to the folder of the process here: core_pattern is %q", pattern)
	}
	if sanitizing().flags != nil {
		t.Skip("sanitizers report faults themselves")
	}
	program := compile(t, "mpicc", "../wild_ends.c", "-g", "-O0")
	for how, call := range map[string]string{"send": "PMPI_Send (", "long_reduce_local": "PMPI_Reduce_local ("} {
		dir := t.TempDir()
		r := command(t, nil, "sh", "-c", fmt.Sprintf("ulimit -c unlimited && cd %s && exec %s %s", dir, program, how))
		cores, _ := filepath.Glob(filepath.Join(dir, "core*"))
		if len(cores) != 1 {
			t.Fatalf("%s: %d cores\n%s", how, len(cores), r.err)
		}
		r = command(t, nil, "gdb", "-batch", "-nx", program, cores[0], "-ex", "bt")
		if !strings.Contains(r.out, call) || !strings.Contains(r.out, " fails_here (") || !strings.Contains(r.out, " main (") {
			t.Errorf("%s:\n%s\n%s", how, r.out, r.err)
		}
	}
}

// If errors return, a buffer without memory is MPI_ERR_BUFFER, and the call has no other effect;
// buffers that a call does not access may have any address.
func TestWildBuffersReturn(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers report faults themselves")
	}
	program := compile(t, "mpicc", "../wild_returns.c")
	for _, fabric := range []string{"shm", "tcp"} {
		for _, n := range []int{1, 2, 5} {
			if r := launched(t, fabric, n, nil, program); r != (result{out: "no errors\n"}) {
				t.Errorf("%d ranks over %s: %+v", n, fabric, r)
			}
		}
	}
}
