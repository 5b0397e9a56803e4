//go:build linux

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The library works in a process with signal handlers, children, and libraries that are
// loaded late, and writes nothing to its output.
func TestProcess(t *testing.T) {
	need(t)
	t.Parallel()
	for _, name := range []string{"process_dlopen", "process_signals", "process_handlers", "process_fork", "process_children", "process_threads", "process_quiet", "process_stacks", "process_monitor"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := compile(t, "mpicc", "../"+name+".c", "-ldl", "-pthread")
			for _, fabric := range []string{"shm", "tcp"} {
				r := launched(t, fabric, 2, []string{"GOGC=5"}, program, installed+"/lib/libmpi_abi.so.0")
				if r.status != 0 || r.err != "" || strings.Trim(r.out, "\n") != "" {
					t.Errorf("%s: status %d\n%s%s", fabric, r.status, r.out, r.err)
				}
			}
			if name == "process_dlopen" {
				return // it needs a world
			}
			if r := command(t, nil, program); r.status != 0 || r.out+r.err != "" {
				t.Errorf("alone: status %d\n%s%s", r.status, r.out, r.err)
			}
		})
	}
}

// A failed call ends the job by default, and the message names call, rank and cause.
func TestErrorsAreFatal(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../abort.c")
	r := launched(t, "shm", 3, nil, program, "error")
	if r.status == 0 || !strings.Contains(r.err, "MPI_ERR_RANK") || strings.Contains(r.out, "not reached") {
		t.Errorf("%+v", r)
	}
	if r := launched(t, "shm", 3, nil, program, "abort"); r.status != 7 || strings.Contains(r.out, "not reached") {
		t.Errorf("%+v", r)
	}
}

// A child of fork that calls MPI gets an error, and none of its calls affects the parent's
// memory or messages.
func TestForkedChildren(t *testing.T) {
	need(t)
	t.Parallel()
	program := compile(t, "mpicc", "../process_forked.c")
	for how, call := range map[string]string{"put": "MPI_Put", "send": "MPI_Send", "barrier": "MPI_Barrier", "init": "MPI_Init", "wild": "MPI_Win_create", "exit": ""} {
		for _, fabric := range []string{"shm", "tcp"} {
			r := launched(t, fabric, 2, nil, program, how)
			out, says := "the child's status is 16\n", "mpi: "+call+": called in a child of fork"
			if call == "" {
				out, says = "the child's status is 40\n", ""
			}
			if r.status != 0 || r.out != out || !strings.Contains(r.err, says) || call == "" && r.err != "" {
				t.Errorf("%s over %s: %+v", how, fabric, r)
			}
			if call == "" {
				continue
			}
			r = launched(t, fabric, 2, []string{"HALO_INITIAL_ERRHANDLER=mpi_errors_return"}, program, how)
			if r != (result{out: "the child's status is 42\n"}) {
				t.Errorf("%s over %s, errors return: %+v", how, fabric, r)
			}
		}
	}
}

// OpenMP programs whose threads are bound to cores, and programs under gprof, run like others.
func TestThreadsAndProfilesOfCompilers(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers have other ways with threads")
	}
	for _, fabric := range []string{"shm", "tcp"} {
		program := compile(t, "mpicc", "../openmp.c", "-fopenmp")
		if r := launched(t, fabric, 2, []string{"OMP_PROC_BIND=close", "OMP_PLACES=cores"}, program); r != (result{}) {
			t.Errorf("OpenMP over %s: %+v", fabric, r)
		}
	}
	program, dir := compile(t, "mpicc", "../openmp.c", "-pg"), t.TempDir()
	if r := command(t, nil, "sh", "-c", "cd "+dir+" && exec "+program); r != (result{}) {
		t.Errorf("with -pg: %+v", r)
	}
	if info, err := os.Stat(filepath.Join(dir, "gmon.out")); err != nil || info.Size() == 0 {
		t.Errorf("no profile: %v", err)
	}
}
