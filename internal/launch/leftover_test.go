//go:build linux

package launch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/agent"
)

// Promise F4 of security.md, which run.wait checks after every run: no process, segment, socket or
// file of a job remains. Segments and sockets have no names, and end with the processes that hold
// them.

func TestNothingIsLeftOfOrphans(t *testing.T) {
	halo(t, 0, "-n", "2", "rank", "orphan", "init", "exchange", "finalize")
	halo(t, 3, "-n", "2", "rank", "orphan", "init", "exchange", "0@exit:3", "forever")
}

// Nothing is left after kill -9 of the launcher, at once or after a random time.
func TestNothingIsLeftOfAKilledLauncher(t *testing.T) {
	n := 24
	if testing.Short() {
		n = 10
	}
	for i := range n {
		r := newRun(t, "-n", "3", "rank", "orphan", "init", "exchange", "segments:0", "heap:8000000", "forever").start()
		time.Sleep(time.Duration(rand.IntN(30000)) * time.Microsecond * time.Duration(i%2)) // every other run: 0
		if i%4 == 3 {
			time.Sleep(50 * time.Millisecond)
		}
		r.cmd.Process.Kill()
		r.end()
		r.nothingLeft()
		noWarden(t)
	}
}

func TestNothingIsLeftOfAKilledLauncherThatWasBuilding(t *testing.T) {
	pkg := goProgram(t, "package main\nimport \"fmt\"\nfunc main() { fmt.Println() }\n")
	for range 4 {
		r := newRun(t, pkg)
		r.cmd.Env = append(r.cmd.Env, "GOCACHE="+t.TempDir()) // an empty cache makes go build compile
		r.start()
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		r.cmd.Process.Kill()
		r.end()
		r.nothingLeft()
		noWarden(t)
	}
}

// Nothing is left after kill -9 of a rank at a random time.
func TestNothingIsLeftOfAKilledRank(t *testing.T) {
	n := 15
	if testing.Short() {
		n = 5
	}
	for range n {
		ready := filepath.Join(t.TempDir(), "ready")
		r := newRun(t, "-n", "4", "rank", "ready:"+ready, "orphan", "init", "exchange", "segments:0", "heap:8000000", "exchange", "forever").start()
		pids := r.ready(ready, 4)
		time.Sleep(time.Duration(rand.IntN(10000)) * time.Microsecond)
		victim := rand.IntN(4)
		syscall.Kill(pids[victim], syscall.SIGKILL)
		r.wait(137).said(fmt.Sprintf("rank %d (pid %d", victim, pids[victim]), "SIGKILL")
		noWarden(t)
	}
}

// Nothing is left of a launcher that runs as a rank of another launcher.
func TestNothingIsLeftOfALauncherInsideAJob(t *testing.T) {
	for _, end := range []string{"outer launcher", "inner launcher", "other rank"} {
		ready := filepath.Join(t.TempDir(), "ready")
		build := goProgram(t, "package main\nimport \"os/exec\"\nfunc main() { exec.Command(\""+rankPath+"\", \"ready:"+ready+"\", \"forever\").Run() }\n")
		stop := filepath.Join(t.TempDir(), "stop")
		r := newRun(t, "-n", "1", haloPath, "run", "-n", "2", build, ":", "-n", "1",
			"sh", "-c", "while ! test -e "+stop+"; do sleep 0.01; done; kill -9 $$").start()
		r.ready(ready, 2)
		status := 137
		switch end {
		case "outer launcher":
			r.cmd.Process.Kill()
		case "inner launcher":
			for _, p := range processesWith(r.marker) {
				var pid int
				fmt.Sscan(p, &pid)
				if pid != r.cmd.Process.Pid && strings.Contains(p, haloPath+" run -n 2") {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		case "other rank":
			if err := os.WriteFile(stop, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r.wait(status)
		noWarden(t)
	}
}

func TestWardenEndsWithTheJob(t *testing.T) {
	halo(t, 0, "-n", "2", "rank", "init", "exchange", "finalize")
	noWarden(t)
}

// noWarden checks that no warden of a launcher of this test is left.
func noWarden(t *testing.T) {
	t.Helper()
	var left []string
	for end := time.Now().Add(hangs); ; time.Sleep(5 * time.Millisecond) {
		left = left[:0]
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range lines {
			text, _ := os.ReadFile(file)
			exe, _ := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
			if strings.HasPrefix(string(text), agent.WardenName+"\x00") && exe == haloPath {
				left = append(left, file)
			}
		}
		if len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	if len(left) > 0 {
		t.Errorf("wardens left: %v", left)
	}
}
