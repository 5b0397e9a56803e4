//go:build linux

// Package run installs the library, compiles the C programs of the folder above and runs them, as a
// user does.
package run

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// installed is the folder that make install has filled and that was moved then: nothing in it may
// depend on its former place.
var installed string

func TestMain(m *testing.M) {
	testrun.DefaultSignals()
	dir, err := os.MkdirTemp("", "halo-conformance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 1
	made.dir = dir
	if err := install(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// lacking names what the machine lacks for these tests, if anything.
func lacking() string {
	for _, tool := range []string{"make", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	return ""
}

func install(dir string) error {
	if lacking() != "" {
		return nil
	}
	installed = os.Getenv("HALO_TEST_PREFIX")
	if installed != "" {
		return nil // the library was installed by somebody else
	}
	first := filepath.Join(dir, "first")
	watch := sanitizing()
	cmd := exec.Command("make", append([]string{"-C", "../..", "install", "PREFIX=" + first, "CC=gcc", "BUILDFLAGS="}, watch.install...)...)
	cmd.Env = append(append(os.Environ(), "MAKEFLAGS="), watch.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make install: %w\n%s", err, out)
	}
	installed = filepath.Join(dir, "place")
	return os.Rename(first, installed)
}

// need skips a test if the machine lacks a tool for it.
func need(t *testing.T, tools ...string) {
	t.Helper()
	if tool := lacking(); tool != "" {
		t.Skipf("there is no %s here", tool)
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
}

func bin(name string) string { return filepath.Join(installed, "bin", name) }

// strict are the flags that all programs compile with. It has no room for more behind it.
var strict = slices.Clip([]string{"-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1"})

// result is the output of a command and its exit status.
type result struct {
	out, err string
	status   int
}

// command runs a command in a folder of its own with additional environment variables.
func command(t *testing.T, env []string, name string, args ...string) result {
	t.Helper()
	watch := sanitizing()
	watch.inTime(t)
	ctx, stop := watch.context(t)
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append(os.Environ(), watch.env...), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the launcher ends its ranks
	cmd.WaitDelay = time.Minute
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	if ctx.Err() != nil {
		t.Errorf("%s %q hangs", name, args)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// made are the programs that tests have compiled, in a folder, by compiler and arguments.
var made struct {
	dir  string
	once sync.Map // functions that compile a program at the first call, and return its path
}

// makeProgram compiles a program for all tests at the first call, and returns its path.
func makeProgram(compiler, source string, more ...string) (string, error) {
	args := append(append(strict, sanitizing().flags...), source)
	args = append(args, more...)
	once, _ := made.once.LoadOrStore(fmt.Sprintf("%s %q", compiler, args), sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(made.dir, "")
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
		if out, err := exec.Command(bin(compiler), append(args, "-o", to)...).CombinedOutput(); err != nil || len(out) > 0 {
			return "", fmt.Errorf("%s %q: %v\n%s", compiler, args, err, out)
		}
		return to, nil
	}))
	return once.(func() (string, error))()
}

// compile compiles a program with mpicc, or another command, and returns its path.
func compile(t *testing.T, compiler, source string, more ...string) string {
	t.Helper()
	to, err := makeProgram(compiler, source, more...)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// programs compiles all programs of a list on all cores.
func programs(t *testing.T, list []entry) map[string]string {
	t.Helper()
	at := map[string]string{}
	for _, e := range list {
		at[e.name] = ""
	}
	var all sync.Mutex
	var wg sync.WaitGroup
	cores := make(chan struct{}, runtime.NumCPU())
	for name := range maps.Clone(at) {
		wg.Go(func() {
			cores <- struct{}{}
			defer func() { <-cores }()
			to, err := makeProgram("mpicc", "../"+name+".c")
			if err != nil {
				t.Error(err)
			}
			all.Lock()
			at[name] = to
			all.Unlock()
		})
	}
	wg.Wait()
	return at
}

// launched runs a program under the launcher.
func launched(t *testing.T, fabric string, n int, env []string, program string, args ...string) result {
	t.Helper()
	line := append([]string{"-n", fmt.Sprint(n), "-fabric", fabric, program}, args...)
	return command(t, env, bin("mpiexec"), line...)
}
