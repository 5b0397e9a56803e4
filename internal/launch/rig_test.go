//go:build unix

package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// The paths of the programs under test, which are built once: halo, testdata/rank, testdata/hang and
// testdata/session.
var haloPath, rankPath, hangPath, sessionPath string

func TestMain(m *testing.M) {
	testrun.DefaultSignals()
	dir, err := os.MkdirTemp("", "halo-launch-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	haloPath, rankPath, hangPath, sessionPath = filepath.Join(dir, "halo"), filepath.Join(dir, "rank"), filepath.Join(dir, "hang"), filepath.Join(dir, "session")
	code := 1
	halo := []string{"github.com/halo-mpi/halo/cmd/halo"}
	if testrun.Race {
		// The tests are programs of this kind, so that packages are compiled once for both.
		halo = []string{"-race", "-buildmode=exe", halo[0]}
	}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-tags", Value: "faults"}) {
		halo = append([]string{"-tags", "faults"}, halo...)
	}
	if build(haloPath, halo...) && build(dir, "./testdata/rank", "./testdata/hang", "./testdata/session") {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(out string, args ...string) bool {
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", out}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building", args, err)
		return false
	}
	return true
}

// run is a run of the launcher.
type run struct {
	t      *testing.T
	cmd    *exec.Cmd
	marker string // an entry in the environment of all processes of the run
	tmp    string // the TMPDIR of the run
	stdout bytes.Buffer
	stderr bytes.Buffer
	ended  chan struct{}
	status int
}

// hangs is the time after which a test considers a run to hang that is not idle (testrun.Context).
const hangs = testrun.Long

// newRun prepares halo run with args. It replaces an argument "rank" by the path of the test
// program.
func newRun(t *testing.T, args ...string) *run {
	t.Helper()
	testrun.Covered(t)
	r := &run{t: t, tmp: t.TempDir(), ended: make(chan struct{})}
	r.marker = "HALO_TEST_RUN=" + filepath.Base(filepath.Dir(r.tmp)) + filepath.Base(r.tmp)
	line := []string{"run"}
	for _, a := range args {
		if a == "rank" {
			a = rankPath
		}
		line = append(line, a)
	}
	r.cmd = exec.Command(haloPath, line...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.Env = append(os.Environ(), r.marker, "TMPDIR="+r.tmp, testrun.RaceOptions)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Processes that the launcher leaves behind must not delay Wait.
	r.cmd.WaitDelay = time.Minute
	return r
}

func (r *run) start() *run {
	r.t.Helper()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		err := r.cmd.Wait()
		if errors.Is(err, exec.ErrWaitDelay) {
			r.t.Error("somebody held the launcher's output for seconds after its end")
		}
		r.status = -1
		if s, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
			r.status = s.ExitStatus()
			if s.Signaled() {
				r.status = 128 + int(s.Signal())
			}
		}
		close(r.ended)
	}()
	r.t.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.ended
	})
	return r
}

// end waits for the end of the run.
func (r *run) end() {
	r.t.Helper()
	hung, stop := testrun.Context(context.Background())
	defer stop()
	select {
	case <-r.ended:
	case <-hung.Done():
		r.hang()
	}
}

// wait waits for the end of the run, and checks its status and that nothing is left.
func (r *run) wait(status int) *run {
	r.t.Helper()
	r.end()
	if r.status != status {
		r.t.Errorf("%v: status %d, want %d; stderr: %.2000s", r.cmd.Args[1:], r.status, status, r.stderr.String())
	}
	r.nothingLeft()
	return r
}

// hang fails the test, and prints the processes of the run and the goroutines of the launcher.
func (r *run) hang() {
	r.t.Helper()
	list := processesWith(r.marker)
	for i, p := range list {
		pid, _, _ := strings.Cut(p, " ")
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		wchan, _ := os.ReadFile("/proc/" + pid + "/wchan")
		list[i] = fmt.Sprintf("%s: %.60s in %s", p, stat, wchan)
	}
	r.cmd.Process.Signal(syscall.SIGABRT)
	select {
	case <-r.ended:
	case <-time.After(hangs / 10): // the launcher is stopped, or nobody reads its output
		r.cmd.Process.Kill()
		<-r.ended
	}
	r.t.Fatalf("%v hangs; processes:\n%s\nstdout %.500q\nstderr %.200000s", r.cmd.Args[1:], strings.Join(list, "\n"), r.stdout.String(), r.stderr.String())
}

// ready waits until n ranks have made their step ready:FILE, and returns their pids.
func (r *run) ready(file string, n int) []int {
	r.t.Helper()
	pids := make([]int, n)
	for i := range pids {
		for end := time.Now().Add(hangs); pids[i] == 0; time.Sleep(time.Millisecond) {
			text, _ := os.ReadFile(fmt.Sprintf("%s.%d", file, i))
			fmt.Sscan(string(text), &pids[i])
			if time.Now().After(end) {
				r.t.Fatalf("rank %d never came; stderr %s", i, r.stderr.String())
			}
		}
	}
	return pids
}

// said checks that a line of stderr contains all the words.
func (r *run) said(words ...string) *run {
	r.t.Helper()
	for line := range strings.Lines(r.stderr.String()) {
		missing := false
		for _, w := range words {
			missing = missing || !strings.Contains(line, w)
		}
		if !missing {
			return r
		}
	}
	r.t.Errorf("%v: no line of stderr with %q: %.3000s", r.cmd.Args[1:], words, r.stderr.String())
	return r
}

// printed checks that stdout consists of these lines, in any order.
func (r *run) printed(lines ...string) *run {
	r.t.Helper()
	got := map[string]int{}
	for line := range strings.Lines(r.stdout.String()) {
		got[strings.TrimSuffix(line, "\n")]++
	}
	for _, l := range lines {
		got[l]--
	}
	for l, n := range got {
		if n != 0 {
			r.t.Errorf("%v: line %q is there %+d times too often; stdout: %.2000s", r.cmd.Args[1:], l, n, r.stdout.String())
		}
	}
	return r
}

// quiet checks that stderr is empty.
func (r *run) quiet() *run {
	r.t.Helper()
	if r.stderr.Len() > 0 {
		r.t.Errorf("%v: stderr: %.2000s", r.cmd.Args[1:], r.stderr.String())
	}
	return r
}

// soon is the bound of promise F4 on a quiet machine. The test reports what takes longer, and fails after hangs.
const soon = 2 * time.Second

// nothingLeft checks promise F4: no process and no file of the run remains.
func (r *run) nothingLeft() {
	r.t.Helper()
	var left []string
	begin, late := time.Now(), false
	for end := begin.Add(hangs); ; time.Sleep(5 * time.Millisecond) {
		left = processesWith(r.marker)
		entries, _ := os.ReadDir(r.tmp)
		for _, e := range entries {
			left = append(left, filepath.Join(r.tmp, e.Name()))
		}
		if len(left) == 0 {
			return
		}
		if !late && time.Since(begin) > soon {
			late = true
			r.t.Logf("%v: %q is left after %v", r.cmd.Args[1:], left, soon)
		}
		if time.Now().After(end) {
			break
		}
	}
	r.t.Errorf("%v left behind: %q", r.cmd.Args[1:], left)
}

// processesWith lists the processes, except zombies, that have an environment entry. Wardens do not
// inherit the environment; noWarden finds them by their name.
func processesWith(marker string) (list []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+marker+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		list = append(list, filepath.Base(d)+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return list
}

func halo(t *testing.T, status int, args ...string) *run {
	t.Helper()
	return newRun(t, args...).start().wait(status)
}
