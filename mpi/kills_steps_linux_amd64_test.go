package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
)

// The parameters of stepsProgram, beside killRole and killService.
const (
	stepTraced = "HALO_TEST_STEP_TRACED" // the role whose system calls are traced
	stepFlavor = "HALO_TEST_STEP_FLAVOR" // which of stepFlavors
	stepDir    = "HALO_TEST_STEP_DIR"    // where the traced process and the test tell each other to begin
)

// Descriptors that nobody has: the traced thread closes them before and after the steps.
const (
	stepsBegin = -76
	stepsEnd   = -77
)

func init() { linuxPrograms["steps"] = stepsProgram }

// stepFlavors make windows whose memory several jobs map.
var stepFlavors = map[string]func(c *mpi.Comm) (*mpi.Window, error){
	"allocated": func(c *mpi.Comm) (*mpi.Window, error) {
		w, err := mpi.WinAllocate[int64](c, 8)
		if err != nil {
			return nil, err
		}
		return w.Window, nil
	},
	"shared": func(c *mpi.Comm) (*mpi.Window, error) {
		w, err := mpi.WinAllocateShared[int64](c, 8)
		if err != nil {
			return nil, err
		}
		return w.Window, nil
	},
}

// stepsProgram makes a window with the processes of other jobs, while one of them is killed.
func stepsProgram() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	ctx, role := context.Background(), os.Getenv(killRole)
	var made []*mpi.Comm
	var all *mpi.Comm
	// join merges an intercommunicator.
	join := func(inter *mpi.Comm, err error, high bool) error {
		if err == nil {
			all, err = inter.Merge(high)
		}
		if err == nil {
			made = append(made, all, inter)
		}
		return err
	}
	// meet has the processes of all meet those of another job at a port of the first one.
	meet := func(step string, c *mpi.Comm, accepts bool) (*mpi.Comm, error) {
		service := os.Getenv(killService) + step
		switch {
		case accepts && role == "first":
			port, err := mpi.OpenPort(world)
			if err == nil {
				err = port.Publish(service)
			}
			if err != nil {
				return nil, err
			}
			defer port.Close()
			return port.Accept(ctx, c, 0)
		case accepts:
			var port *mpi.Port
			return port.Accept(ctx, c, 0)
		}
		for {
			if name, err := mpi.LookupName(world, service); err == nil {
				return mpi.Connect(ctx, name, c, 0)
			} else if !errors.Is(err, mpi.ErrName) {
				return nil, err
			}
			time.Sleep(time.Millisecond)
		}
	}
	switch role {
	case "parent":
		self, _ := os.Executable()
		inter, _, failed := world.Spawn(ctx, 0, mpi.Command{Program: self, N: 1, Apart: true, Env: []string{killRole + "=child"}})
		err = join(inter, failed, false)
	case "child":
		err = join(world.Parent(), nil, true)
	case "first", "second":
		inter, failed := meet("2", world, role == "first")
		err = join(inter, failed, role == "second")
		if err == nil {
			inter, err = meet("3", all, true)
			err = join(inter, err, false)
		}
	case "third":
		inter, failed := meet("3", world, false)
		err = join(inter, failed, true)
	}
	if err != nil {
		return err
	}
	w, failed := stepped(role, all)
	err = failed
	if w != nil {
		err = errors.Join(all.Barrier(), w.Free())
	}
	for _, c := range slices.Backward(made) {
		err = errors.Join(err, c.Disconnect())
	}
	if err := wrongUnlessKilled(err); err != nil {
		return err
	}
	if err := blocksLeft(err != nil); err != nil {
		return err
	}
	return mpi.Finalize()
}

// blocksLeft reports descriptors and mappings of the memory of windows. A process keeps its own memory if another member
// has died.
func blocksLeft(died bool) error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	most := 0
	if died {
		most = 1
	}
	if n := strings.Count(string(maps), "halo-block"); n > most {
		return fmt.Errorf("wrong: %d blocks are mapped at the end", n)
	}
	files, _ := filepath.Glob("/proc/self/fd/*")
	for _, f := range files {
		if to, _ := os.Readlink(f); strings.Contains(to, "halo-block") {
			return fmt.Errorf("wrong: %s of a block is open at the end", f)
		}
	}
	return nil
}

// stepped makes a window. The traced process does it in a thread that is not its first one, since the end of that one is
// waited for by the test's job.
func stepped(role string, c *mpi.Comm) (w *mpi.Window, err error) {
	create := stepFlavors[os.Getenv(stepFlavor)]
	if role != os.Getenv(stepTraced) {
		return create(c)
	}
	done := make(chan struct{})
	var traced func()
	traced = func() {
		runtime.LockOSThread()
		if syscall.Gettid() == os.Getpid() {
			go traced()
			<-done
			return
		}
		defer close(done)
		dir := os.Getenv(stepDir)
		tid := filepath.Join(dir, "tid")
		err = os.WriteFile(tid+"~", []byte(strconv.Itoa(syscall.Gettid())), 0o600)
		if err == nil {
			err = os.Rename(tid+"~", tid)
		}
		for ; err == nil; time.Sleep(time.Millisecond) {
			if _, failed := os.Stat(filepath.Join(dir, "go")); failed == nil {
				break
			}
		}
		if err == nil {
			syscall.Close(stepsBegin)
			w, err = create(c)
			syscall.Close(stepsEnd)
		}
	}
	go traced()
	<-done
	return w, err
}

// stepPoint is a process that is killed while another one, or itself, makes a window step by step.
type stepPoint struct {
	roles          []string // of the jobs that are started, one process each, without a launcher
	traced, victim string
}

var stepPoints = []stepPoint{
	{[]string{"first", "second", "third"}, "first", "first"},
	{[]string{"first", "second", "third"}, "third", "third"},
	{[]string{"first", "second", "third"}, "second", "first"},
	{[]string{"first", "second", "third"}, "first", "third"},
	{[]string{"parent"}, "parent", "parent"},
	{[]string{"parent"}, "child", "parent"},
	{[]string{"parent"}, "parent", "child"},
	{[]string{"parent"}, "child", "child"},
}

// X-DYN-01, F1, F5: whoever is killed before each system call by which processes of several jobs map the memory of each
// other, the others get an error that says so or go on, and nothing is left. HALO_TEST_KILLS_SECONDS has the test stop at
// all of these calls, not at each fifth one.
func TestF5_XDYN01_KillsWhileBlocksAreMapped(t *testing.T) {
	testrun.PlainOnly(t, "no memory is shared between jobs under the race detector")
	halo, stride := testrun.Halo(t, t.TempDir()), 5
	if os.Getenv("HALO_TEST_KILLS_SECONDS") != "" {
		stride = 1
	}
	for _, flavor := range slices.Sorted(maps.Keys(stepFlavors)) {
		for i, p := range stepPoints {
			step := i % stride
			killed, denied := p.run(t, halo, flavor, step)
			switch {
			case denied:
				t.Skip("this system does not let processes be traced")
			case !killed && !t.Failed():
				t.Errorf("%s: there is no step %d of %s", flavor, step, p.traced)
			}
			for killed {
				step += stride
				killed, _ = p.run(t, halo, flavor, step)
			}
		}
	}
}

// run kills the victim at a step of the traced process. It reports whether there is such a step, and the test may go on,
// and whether this system denies it.
func (p *stepPoint) run(t *testing.T, halo, flavor string, step int) (killed, denied bool) {
	t.Run(fmt.Sprintf("%s/%s/%s/%d", flavor, p.victim, p.traced, step), func(t *testing.T) {
		runtime.LockOSThread() // the tracer is this thread, which ends with the test
		defer func() { denied = t.Skipped() }()
		r := newKillRun(t, halo)
		for _, role := range p.roles {
			r.start(role, 0, programVariable+"=steps", stepTraced+"="+p.traced, stepFlavor+"="+flavor, stepDir+"="+r.dir)
		}
		pid := func(role string) int {
			if i := slices.Index(p.roles, role); i >= 0 {
				return r.jobs[i].cmd.Process.Pid
			}
			for pid, is := range r.processes() {
				if is == role {
					return pid
				}
			}
			return 0
		}
		k := tracee{t: t, tid: r.traced()}
		victim := pid(p.victim)
		k.begin()
		ok(t, os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600))
		killed = k.reach(step)
		if killed {
			ok(t, syscall.Kill(victim, syscall.SIGKILL))
		}
		switch {
		case !killed:
			k.end()
		case p.victim == p.traced:
			k.waitForEnd()
		default:
			for stateOf(victim) != "" { // the traced thread goes on when it is dead
				time.Sleep(time.Millisecond)
			}
			k.end()
		}
		for i, j := range r.jobs {
			status := r.wait(j)
			if died := killed && p.roles[i] == p.victim; died != (status == 128+int(syscall.SIGKILL)) || !died && status != 0 {
				t.Errorf("%s has ended with status %d: %s", p.roles[i], status, j.out.String())
			}
			if strings.Contains(j.out.String(), "wrong:") || strings.Contains(j.out.String(), "panic") {
				t.Errorf("%s: %s", p.roles[i], j.out.String())
			}
		}
		r.nothingLeft()
		killed = killed && !t.Failed()
	})
	return killed, denied
}

// stateOf returns the state of a process that lives, as ps shows it, "" of others.
func stateOf(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) == 0 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[0]
}

// traced waits for the thread that is traced.
func (r *killRun) traced() int {
	r.t.Helper()
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(r.dir, "tid")); err == nil {
			tid, err := strconv.Atoi(string(b))
			ok(r.t, err)
			return tid
		}
	}
	for _, j := range r.jobs {
		r.t.Log(j.out.String())
	}
	r.t.Fatalf("nobody makes a window: %v", r.processes())
	return 0
}

// tracee is a thread of another process, whose system calls the calling thread traces.
type tracee struct {
	t   *testing.T
	tid int
}

// ptrace is a request that package syscall does not have.
func (k *tracee) ptrace(request, data uintptr) {
	k.t.Helper()
	if _, _, e := syscall.Syscall6(syscall.SYS_PTRACE, request, uintptr(k.tid), 0, data, 0, 0); e == syscall.EPERM {
		k.t.Skipf("this system does not let processes be traced: %v", e)
	} else if e != 0 {
		k.t.Fatal("ptrace: ", e)
	}
}

// wait waits for the next stop of the thread, or its end.
func (k *tracee) wait() (status syscall.WaitStatus, err error) {
	err = syscall.EINTR
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(k.tid, &status, syscall.WALL, nil)
	}
	return status, err
}

// systemCall is the signal of a stop before or after a system call.
const systemCall = syscall.SIGTRAP | 0x80

// begin stops the thread, and has it stop before and after each system call from then on.
func (k *tracee) begin() {
	const (
		seize, interrupt = 0x4206, 0x4207
		markSystemCalls  = 1 // PTRACE_O_TRACESYSGOOD: systemCall differs from other traps
	)
	k.ptrace(seize, markSystemCalls)
	k.ptrace(interrupt, 0)
	_, err := k.wait()
	ok(k.t, err)
	ok(k.t, syscall.PtraceSyscall(k.tid, 0))
}

// stepCalls are the system calls by which memory is made, found, mapped and settled.
var stepCalls = []uint64{
	syscall.SYS_OPENAT, syscall.SYS_CLOSE, syscall.SYS_FTRUNCATE, syscall.SYS_FCNTL, syscall.SYS_MMAP, syscall.SYS_MUNMAP, 319, /* memfd_create */
}

// reach stops the thread before one of its steps. It reports false if there are fewer, and the thread has done them all.
func (k *tracee) reach(step int) bool {
	k.t.Helper()
	began, before := false, false
	for {
		status, err := k.wait()
		ok(k.t, err)
		signal := 0
		switch {
		case !status.Stopped():
			k.t.Fatalf("the thread has ended: status %#x", status)
		case status.StopSignal() == systemCall:
			before = !before
			if !before {
				break
			}
			var regs syscall.PtraceRegs
			ok(k.t, syscall.PtraceGetRegs(k.tid, &regs))
			marks := regs.Orig_rax == syscall.SYS_CLOSE
			switch fd := int32(regs.Rdi); {
			case marks && fd == stepsBegin:
				began = true
			case marks && fd == stepsEnd:
				return false
			case began && slices.Contains(stepCalls, regs.Orig_rax):
				if step == 0 {
					return true
				}
				step--
			}
		case status>>16 == 0: // a signal, and none of the stops that tracing makes
			signal = int(status.StopSignal())
		}
		ok(k.t, syscall.PtraceSyscall(k.tid, signal))
	}
}

// end lets the thread go on, untraced, unless it has been killed.
func (k *tracee) end() {
	k.t.Helper()
	switch err := syscall.PtraceDetach(k.tid); err {
	case nil:
	case syscall.ESRCH:
		k.waitForEnd()
	default:
		k.t.Fatal(err)
	}
}

// waitForEnd waits for the end of a thread that has been killed, which may be over.
func (k *tracee) waitForEnd() {
	for {
		if status, err := k.wait(); err != nil || status.Signaled() {
			return
		}
	}
}
