//go:build linux

package launch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/program"
)

// compile compiles C source to a program, or to a library if the name contains ".so".
func compile(t *testing.T, name, source string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler here:", err)
	}
	file := name + ".c"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-o", name, file}
	if strings.Contains(filepath.Base(name), ".so") {
		args = append([]string{"-shared", "-fPIC", "-Wl,-soname," + filepath.Base(name)}, args...)
	}
	if out, err := exec.Command(cc, append(args, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return name
}

// The launcher explains the end of ranks whose dynamic loader fails, or whose shell does not find a
// command.
func TestStatus127IsExplained(t *testing.T) {
	dir := t.TempDir()
	lib := compile(t, filepath.Join(dir, "libmill.so.3"), "int mill(void) { return 0; }")
	program := compile(t, filepath.Join(dir, "program"), "int mill(void); int main(void) { return mill(); }", lib, "-Wl,-rpath,"+dir)
	halo(t, 0, "-n", "2", program).quiet()
	if err := os.Remove(lib); err != nil {
		t.Fatal(err)
	}
	halo(t, 127, "-n", "2", program).said("libmill.so.3").
		said("halo: ranks 0-1 (", "exited with status 127 before mpi.Init or MPI_Init: either the dynamic loader did not find a library or symbol that "+program+" needs", "LD_LIBRARY_PATH")
	lib = compile(t, filepath.Join(dir, "libmpi_abi.so.1"), "int MPI_Init(void) { return 0; }")
	program = compile(t, filepath.Join(dir, "abi"), "int MPI_Init(void); int main(void) { return MPI_Init(); }", lib, "-Wl,-rpath,"+dir)
	if err := os.Remove(lib); err != nil {
		t.Fatal(err)
	}
	halo(t, 127, "-n", "2", program).said("libmpi_abi.so.1").said("exited with status 127 before MPI_Init: either the dynamic loader did not find")
	halo(t, 127, "-n", "2", "rank", "1@exit:127", "init", "exchange").
		said("halo: rank 1 ", "had not called mpi.Init, and rank 0 waits for it there: a command, or a library of one, was not found")
	// A shell is dynamically linked, too. Here its loader finds everything, and the command is missing.
	halo(t, 127, "-n", "1", "sh", "-c", "/no/such/command").said("halo: rank 0 (", "exited with status 127 before mpi.Init or MPI_Init: either the dynamic loader did not find",
		"or the program, such as a shell, did not find a command")
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n/no/such/command\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	halo(t, 127, "-n", "1", script).said("halo: rank 0 (", "a command, or a library of one, was not found")
	farRun(t, 127, "-host", "a,b", "-n", "2", script).said("halo: ranks 0-1 (", "a command, or a library of one, was not found")
	halo(t, 3, "-n", "2", "sh", "-c", "exit 3").quiet()
}

// Each process of a program that is built for another MPI is a world of one process. The launcher
// says so if it sees such a library, and only then.
func TestProgramsOfAnotherMPIAreToldApart(t *testing.T) {
	dir := t.TempDir()
	uses := func(name, lib, source string, flags ...string) string {
		file := compile(t, filepath.Join(dir, lib), "int MPI_Init(void) { return 0; }")
		return compile(t, filepath.Join(dir, name), source, append([]string{file, "-Wl,-rpath," + dir}, flags...)...)
	}
	const calls = "int MPI_Init(void); int main(void) { return MPI_Init(); }"
	openmpi := uses("openmpi", "libmpi.so.40", calls)
	mpich := uses("mpich", "libmpich.so.12", calls)
	abi := uses("abi", "libmpi_abi.so.0", calls)
	halo(t, 0, "-n", "2", openmpi).said("halo: no rank has called Halo's Init: is "+openmpi+" built for another MPI?", "libmpi.so.40 (Open MPI)", "each of the 2 processes")
	halo(t, 0, "-n", "2", mpich).said("halo: no rank has joined: "+mpich+" uses libmpich.so.12 (MPICH)", "by PMI-1")
	farRun(t, 0, "-host", "a,b", "-n", "3", mpich).said("halo: no rank has joined: "+mpich, "each of the 3 processes")
	halo(t, 1, "-n", "1", "rank", "init", "exchange", "finalize", ":", "-n", "1", openmpi).said("rank 1 ", "it uses libmpi.so.40 (Open MPI), the library of another MPI")
	halo(t, 0, "-n", "1", openmpi).quiet()
	halo(t, 0, "-n", "2", abi).quiet()
	halo(t, 0, "-n", "2", "hostname").quiet()

	// The program loads the library at run time, as interpreters do, and a shell starts the program.
	loads := compile(t, filepath.Join(dir, "loads"), `#include <dlfcn.h>
#include <unistd.h>
int main(int n, char **v) { return !dlopen(v[1], RTLD_NOW) || pause(); }`, "-ldl")
	start := func(program string, args ...string) (*run, *heard) {
		r, h := newRun(t, append([]string{"-n", "2", program}, args...)...), &heard{}
		r.cmd.Stderr = h
		return r.start(), h
	}
	for _, command := range [][]string{{loads, filepath.Join(dir, "libmpi.so.40")}, {"sh", "-c", loads + " " + dir + "/libmpi.so.40; exit"}} {
		r, h := start(command[0], command[1:]...)
		h.await(t, "halo: no rank has called Halo's Init: is ", " built for another MPI? It uses libmpi.so.40")
		r.cmd.Process.Signal(syscall.SIGTERM)
		r.wait(143)
		if n := strings.Count(h.String(), "another MPI"); n != 1 {
			t.Errorf("said %d times: %s", n, h.String())
		}
	}
	// A process that another launcher has started belongs to that launcher's world.
	r, h := start("sh", "-c", "PMI_FD=9 "+loads+" "+dir+"/libmpi.so.40; exit")
	for _, pid := range r.processesOf(loads, 2) {
		for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)); bytes.Contains(maps, []byte("/libmpi.so.40")) {
				break
			}
		}
	}
	if lib := program.MappedMPI(r.cmd.Process.Pid); lib != "" {
		t.Errorf("%s in the job of another launcher", lib)
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
	if strings.Contains(h.String(), "another MPI") {
		t.Error(h.String())
	}
}
