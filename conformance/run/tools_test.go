//go:build linux

package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// This file tests the statements of docs/c.md about other tools and languages, also about what does
// not work. A test of the latter fails when it begins to work; then the document must be changed.

// An exception that leaves a callback ends the process by std::terminate; one that is thrown after
// the call has returned is caught. The Go stack that longjmp abandons is lost.
func TestFunctionsThatDoNotReturn(t *testing.T) {
	need(t, "g++")
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("sanitizers look at exceptions and jumps themselves")
	}
	program := filepath.Join(t.TempDir(), "leave_callback")
	if r := command(t, nil, bin("mpicxx"), "-Wall", "-Wextra", "-Werror", "-O1", "-o", program, "../leave_callback.cc"); r.status != 0 || r.err != "" {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.err)
	}
	for what, c := range map[string]struct {
		status   int
		out, err string
	}{
		"handler":   {134, "", "terminate called after throwing"},
		"operation": {134, "", "terminate called after throwing"},
		"after":     {0, "caught\n", ""},
	} {
		r := launched(t, "shm", 1, nil, "sh", "-c", `ulimit -c 0; exec "$0" "$@"`, program, what)
		if r.status != c.status || r.out != c.out || !strings.HasPrefix(r.err, c.err) || c.err == "" && r.err != "" {
			t.Errorf("%s: status %d\n%s%s", what, r.status, r.out, r.err)
		}
	}
	const jumps = 20000
	r := launched(t, "shm", 1, nil, program, "jump", fmt.Sprint(jumps))
	kib, err := strconv.Atoi(strings.TrimSpace(r.out))
	if err != nil || r.status != 0 {
		t.Fatalf("%d jumps: status %d\n%s%s", jumps, r.status, r.out, r.err)
	}
	if kib < jumps {
		t.Errorf("%d jumps out of an error handler left %d KiB behind: has Go's stack been given back?", jumps, kib)
	}
}

// races is a program whose threads write one variable, after a message to itself.
const races = `#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static int shared;
static void *add(void *unused) {
	for (int i = 0; i < 1000; i++) shared++;
	return unused;
}
int main(int argc, char **argv) {
	pthread_t a, b;
	int x = 0, one = 1, provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Sendrecv(&one, 1, MPI_INT, 0, 0, &x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	MPI_Finalize();
	return 0;
}
`

// Programs with ThreadSanitizer run over each fabric, and it finds their races and no others.
func TestThreadSanitizer(t *testing.T) {
	need(t)
	t.Parallel()
	if sanitizing().flags != nil {
		t.Skip("another sanitizer is in use")
	}
	if out, err := exec.Command("gcc", "-print-file-name=libtsan.so").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(out))) {
		t.Skip("there is no libtsan here")
	}
	source := filepath.Join(t.TempDir(), "races.c")
	if err := os.WriteFile(source, []byte(races), 0o644); err != nil {
		t.Fatal(err)
	}
	const says = "WARNING: ThreadSanitizer: data race"
	for _, fabric := range []string{"shm", "tcp"} {
		if r := launched(t, fabric, 2, nil, compile(t, "mpicc", "../coll_basic.c", "-g", "-fsanitize=thread")); r != (result{out: "no errors\n"}) {
			t.Errorf("%s: status %d\n%s%s", fabric, r.status, r.out, r.err)
		}
		r := launched(t, fabric, 2, []string{"TSAN_OPTIONS=exitcode=66"}, compile(t, "mpicc", source, "-g", "-fsanitize=thread"))
		if r.status != 66 || !strings.Contains(r.err, says) || !strings.Contains(r.err, "races.c:6") {
			t.Errorf("%s: status %d\n%s%s", fabric, r.status, r.out, r.err)
		}
	}
}

// A Go shared library that is built with musl crashes at its start, even without Halo: while main
// runs, and before a call of the library returns.
func TestLibrariesOfGoUnderMusl(t *testing.T) {
	need(t, "musl-gcc", "go")
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module nothing\ngo 1.24\n",
		"main.go": "package main\n\nimport \"C\"\n\n//export Nothing\nfunc Nothing() {}\n\nfunc main() {}\n",
		"main.c":  "#include <stdio.h>\nextern void Nothing(void);\nint main(void) { Nothing(); puts(\"called\"); return 0; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []string{
		// GOEXPERIMENT is that of make install, so that the standard library is compiled once for both.
		"CC=musl-gcc CGO_ENABLED=1 GOFLAGS= GOEXPERIMENT=nodwarf5 go build -C " + dir + " -buildmode=c-shared -o libnothing.so .",
		"musl-gcc -o " + dir + "/nothing " + dir + "/main.c -L" + dir + " -lnothing -Wl,-rpath," + dir,
	} {
		if r := command(t, nil, "sh", "-c", c); r.status != 0 {
			t.Fatalf("%s: %s%s", c, r.out, r.err)
		}
	}
	r := command(t, nil, "sh", "-c", "ulimit -c 0; exec "+dir+"/nothing")
	if r.out != "" || r.status != -1 && r.status != 139 {
		t.Errorf("status %d, output %q: do libraries of Go work under musl now?\n%s", r.status, r.out, r.err)
	}
}
