package sys

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// F1: a subreaper finds an orphan whichever of its threads has started the process that left it.
func TestF1_OrphansAreAdopted(t *testing.T) {
	if err := Subreaper(); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	for range 3 {
		left := make(chan string)
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			out, err := exec.Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!").Output()
			if err != nil {
				t.Error(err)
			}
			left <- strings.TrimSpace(string(out))
		}()
		pid, err := strconv.Atoi(<-left)
		if err != nil {
			t.Fatal(err)
		}
		if adopted := Adopted(); !slices.Contains(adopted, pid) {
			t.Errorf("process %d is not among those adopted, %v", pid, adopted)
		}
		if children := childrenByStat(); !slices.Contains(children, pid) {
			t.Errorf("process %d is not among the children by /proc/*/stat, %v", pid, children)
		}
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, 0, nil)
	}
}

// F1: a search for processes that a job has left also counts processes in the middle of exec, so
// that the caller searches again: their environment is not visible, since exec has given them new
// memory and has not filled it yet. Other processes without an environment do not belong to the job.
func TestF1_ProcessesAmidExecAreSeen(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	proc := procDir(t.TempDir() + "/")
	at := filepath.Join(string(proc), strconv.Itoa(cmd.Process.Pid))
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		what, stat, cmdline, environ string
		n                            int
	}{
		{"amid exec", "1 (a b) R 1 1 1 0 -1 4194304 0", "", "", 1},
		{"without an environment", "1 (sleep) S 1 1 1 0 -1 4194304 0", "sleep\x00", "", 0},
		{"of another job", "1 (sleep) S 1 1 1 0 -1 4194304 0", "sleep\x00", "JOB=12\x00", 0},
		{"amid its exit", "1 (sleep) R 1 1 1 0 -1 4194308 0", "", "", 0},
		{"a zombie", "1 (sleep) Z 1 1 1 0 -1 4194304 0", "", "", 0},
		{"a thread of the kernel", "1 (kworker) I 2 0 0 0 -1 69238880 0", "", "", 0},
		{"gone", "", "", "", 0},
		{"started", "1 (sleep) S 1 1 1 0 -1 4194304 0", "sleep\x00", "A=1\x00JOB=1\x00", 1}, // the last: it is killed
	} {
		for name, text := range map[string]string{"stat": p.stat, "cmdline": p.cmdline, "environ": p.environ} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n := proc.killByEnv("JOB=1"); n != p.n {
			t.Errorf("a process that is %s: %d found, want %d", p.what, n, p.n)
		}
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process: %v", err)
	}
}
