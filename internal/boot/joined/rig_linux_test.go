package joined

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/enginetest"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/testrun"
)

// The folder of the programs under test, which are built once.
var programs string

func TestMain(m *testing.M) { leak.Main(built{m}) }

// built builds the programs before the tests.
type built struct{ m *testing.M }

func (b built) Run() int {
	dir, err := os.MkdirTemp("", "halo-joined-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", dir, "./testdata/rank", "../../launch/testdata/session", "../../launch/testdata/deny", "../../../examples/heat")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the programs under test:", err)
		return 1
	}
	return b.m.Run()
}

// program returns the path of a program under test.
func program(name string) string { return filepath.Join(programs, name) }

// An outcome is how a run of an engine ended.
type outcome struct {
	t      *testing.T
	out    string // standard output and error
	status int
}

// runs runs a command to its end, and checks that none of its processes is left. Their environment has a
// mark that is found in /proc.
func runs(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	testrun.Covered(t)
	mark := "HALO_TEST_RUN=" + filepath.Base(t.TempDir()) + fmt.Sprint(time.Now().UnixNano())
	var out bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(clean(os.Environ()), mark, testrun.RaceOptions), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = testrun.Long
	hung, stop := testrun.Context(t.Context())
	defer stop()
	context.AfterFunc(hung, func() {
		if context.Cause(hung) == testrun.ErrHangs {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	})
	err := cmd.Run()
	if context.Cause(hung) == testrun.ErrHangs {
		t.Fatalf("%q hangs:\n%s", args, out.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v\n%s", args, err, out.String())
	}
	for end := time.Now().Add(testrun.Long); ; time.Sleep(10 * time.Millisecond) {
		left := marked(mark)
		if left == "" {
			break
		}
		if time.Now().After(end) {
			t.Errorf("%q leaves %s", args, left)
			break
		}
	}
	return outcome{t, out.String(), cmd.ProcessState.ExitCode()}
}

// clean removes the variables of other jobs from an environment.
func clean(env []string) (list []string) {
	for _, kv := range env {
		if !strings.HasPrefix(kv, "PMI") && !strings.HasPrefix(kv, "HALO_") && !strings.HasPrefix(kv, "SLURM") && !strings.HasPrefix(kv, "OMPI") {
			list = append(list, kv)
		}
	}
	return list
}

// marked names the processes with a mark in their environment.
func marked(mark string) string {
	var left []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte(mark)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			left = append(left, filepath.Base(filepath.Dir(f))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return strings.Join(left, ", ")
}

// wants checks the exit status, and that the output has some texts.
func (o outcome) wants(status int, texts ...string) outcome {
	o.t.Helper()
	if o.status != status {
		o.t.Errorf("exit status %d, want %d:\n%s", o.status, status, o.out)
	}
	return o.has(texts...)
}

// has checks that the output has some texts.
func (o outcome) has(texts ...string) outcome {
	o.t.Helper()
	for _, s := range texts {
		if !strings.Contains(o.out, s) {
			o.t.Errorf("no %q in the output:\n%s", s, o.out)
		}
	}
	return o
}

// need returns the path of a program: see enginetest.Need.
func need(t *testing.T, name string) string {
	t.Helper()
	enginetest.Need(t, name)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
