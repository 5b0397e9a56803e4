//go:build linux

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Handlers of the program, which need no SA_ONSTACK, run in every call without harm to it: a timer of 1 kHz whose
// handler has 64 KiB of locals interrupts messages, reductions, windows and files. Frequent collections make Go
// shrink the stacks that it may shrink.
func TestBRD01_HandlersInterruptCalls(t *testing.T) {
	need(t)
	notSanitizing(t)
	program := compile(t, "mpicc", "../handler_timer.c", "-pthread")
	static := compile(t, "mpicc", "../handler_timer.c", "-pthread", "-static-mpi")
	for _, c := range []struct {
		how, program string
		fabrics      []string
	}{
		{"real", program, []string{"shm", "tcp"}},
		{"prof", program, []string{"shm", "tcp"}},
		{"thread", program, []string{"shm", "tcp"}},
		{"child", program, []string{"shm"}},
		{"real early", program, []string{"shm"}},
		{"prof early signal", program, []string{"shm"}},
		{"real raw", program, []string{"shm"}},
		{"real onstack", program, []string{"tcp"}},
		{"prof unwind", program, []string{"shm"}},
		{"real", static, []string{"shm", "tcp"}},
		{"prof early", static, []string{"shm"}},
		{"thread onstack", static, []string{"tcp"}},
	} {
		for _, fabric := range c.fabrics {
			r := launched(t, fabric, 2, []string{"GOGC=5"}, c.program, c.how, "1")
			if r != (result{out: "no errors\n"}) {
				t.Errorf("%s by %s over %s: status %d\n%s%s", c.how, filepath.Base(c.program), fabric, r.status, r.out, r.err)
			}
		}
	}
}

// A signal that arrives while Go's runtime starts, and has no mask of its own yet, is not handled on its thread.
func TestBRD01_SignalsWhileTheLibraryStarts(t *testing.T) {
	need(t)
	t.Parallel()
	notSanitizing(t)
	for _, flags := range [][]string{nil, {"-static-mpi"}} {
		program := compile(t, "mpicc", "../handler_first.c", append(flags, "-pthread")...)
		for range 10 {
			for _, args := range [][]string{nil, {"reset"}} {
				if r := launched(t, "shm", 2, nil, program, args...); r != (result{out: "no errors\n"}) {
					t.Fatalf("%v, %v: status %d\n%s%s", flags, args, r.status, r.out, r.err)
				}
			}
		}
	}
}

// However a handler is installed, and whatever timer interrupts calls, the handler does no harm, and what is read back is what
// was installed. Nor does it matter what the program does with the signal that the library uses itself.
func TestBRD01_WaysToInstallHandlers(t *testing.T) {
	need(t)
	notSanitizing(t)
	shared := compile(t, "mpicc", "../handler_ways.c", "-pthread")
	static := compile(t, "mpicc", "../handler_ways.c", "-pthread", "-static-mpi")
	for _, c := range []struct {
		program, fabric string
		args            []string
	}{
		{shared, "shm", nil},
		{shared, "tcp", []string{"raw"}},
		{shared, "shm", []string{"ignored"}},
		{static, "tcp", nil},
		{static, "shm", []string{"raw"}},
		{static, "tcp", []string{"ignored"}},
	} {
		r := launched(t, c.fabric, 2, []string{"GOGC=5"}, c.program, append([]string{"0.02"}, c.args...)...)
		if r != (result{out: "no errors\n"}) {
			t.Errorf("%s %q over %s: status %d\n%s%s", c.program, c.args, c.fabric, r.status, r.out, r.err)
		}
	}
}

// A program that starts no threads can be linked without any shared library.
func TestFullyStatic(t *testing.T) {
	need(t)
	t.Parallel()
	notSanitizing(t)
	program := compile(t, "mpicc", "../ring.c", "-static-mpi", "-static", "-Wl,--no-warnings")
	for _, fabric := range []string{"shm", "tcp"} {
		if r := launched(t, fabric, 2, nil, program); r.status != 0 || r.err != "" {
			t.Errorf("over %s: %+v", fabric, r)
		}
	}
}

// Signals that the program waits for are not taken by threads of the library, and what it sets by sigaction,
// signal and sigaltstack it reads back.
func TestBRD01_SignalsAreThePrograms(t *testing.T) {
	need(t)
	t.Parallel()
	notSanitizing(t)
	for _, name := range []string{"signal_wait", "handler_readback"} {
		for how, flags := range map[string][]string{"shared": {"-pthread"}, "static": {"-pthread", "-static-mpi"}} {
			program := compile(t, "mpicc", "../"+name+".c", flags...)
			for _, fabric := range []string{"shm", "tcp"} {
				if r := launched(t, fabric, 2, nil, program); r != (result{out: "no errors\n"}) {
					t.Errorf("%s, %s, over %s: status %d\n%s%s", name, how, fabric, r.status, r.out, r.err)
				}
			}
		}
	}
}

// A handler leaves calls by siglongjmp, those that wait and short ones, in C and in Go.
func TestBRD01_HandlersJumpOutOfCalls(t *testing.T) {
	need(t)
	t.Parallel()
	notSanitizing(t)
	for how, flags := range map[string][]string{"shared": {"-pthread"}, "static": {"-pthread", "-static-mpi"}, "fortified": {"-pthread", "-O2", "-D_FORTIFY_SOURCE=2"}} {
		program := compile(t, "mpicc", "../handler_jump.c", flags...)
		for _, fabric := range []string{"shm", "tcp"} {
			for _, stack := range []string{"stack", "onstack"} {
				if r := launched(t, fabric, 2, []string{"GOGC=5"}, program, stack, "40"); r != (result{out: "no errors\n"}) {
					t.Errorf("%s over %s, %s: status %d\n%s%s", how, fabric, stack, r.status, r.out, r.err)
				}
			}
		}
	}
}

// python loads the library when the interpreter's handlers are installed, and no name of the library comes before the C
// library's.
const python = `
import ctypes, faulthandler, signal, sys, threading, time
faulthandler.enable()
count = 0
def handle(number, frame):
    global count
    count += 1
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
mpi = ctypes.CDLL(sys.argv[1])
signal.signal(signal.SIGPROF, handle)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
world, integer, total = ctypes.c_void_p(0x101), ctypes.c_void_p(0x209), ctypes.c_void_p(0x21)
self = ctypes.c_void_p(0x102)
level = ctypes.c_int()
mpi.MPI_Init_thread(None, None, 4096, ctypes.byref(level))
wrong = 0
def reduce(comm, times):
    global wrong
    one, all = (ctypes.c_int * 3000)(*([1] * 3000)), (ctypes.c_int * 3000)()
    size = ctypes.c_int()
    mpi.MPI_Comm_size(comm, ctypes.byref(size))
    for i in range(times):
        if mpi.MPI_Allreduce(one, all, 3000 if i % 2 else 1, integer, total, comm) != 0 or all[0] != size.value:
            wrong += 1
thread = threading.Thread(target=reduce, args=(self, 3000))
thread.start()
reduce(world, 3000)
thread.join()
faulthandler.disable() # which restores the alternate stack that was there
reduce(world, 3000)
faulthandler.enable()
faulthandler.register(signal.SIGUSR1, file=open("/dev/null", "w"), all_threads=True)
for i in range(20):
    signal.raise_signal(signal.SIGUSR1)
    reduce(world, 20)
signal.setitimer(signal.ITIMER_PROF, 0)
signal.setitimer(signal.ITIMER_REAL, 0)
mpi.MPI_Finalize()
if wrong or not count:
    sys.exit("%d results are wrong, %d signals were handled" % (wrong, count))
`

// Python with its timers and faulthandler loads the library late.
func TestBRD01_Python(t *testing.T) {
	need(t, "python3")
	t.Parallel()
	notSanitizing(t)
	script := filepath.Join(t.TempDir(), "signals.py")
	if err := os.WriteFile(script, []byte(python), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, fabric := range []string{"shm", "tcp"} {
		r := launched(t, fabric, 2, []string{"GOGC=5"}, "python3", script, installed+"/lib/libmpi_abi.so.1")
		if r.status != 0 || r.out != "" || strings.TrimSpace(r.err) != "" {
			t.Errorf("over %s: %+v", fabric, r)
		}
	}
}
