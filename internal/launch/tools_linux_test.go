package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/plan"
)

// signalled is a host that records the signals for its ranks.
type signalled struct {
	node
	signals []syscall.Signal
}

func (h *signalled) Signal(s syscall.Signal) { h.signals = append(h.signals, s) }
func (h *signalled) Tell(string)             {}

// BRD-05: signals that come at once are one; a later one is impatience.
func TestBRD05_SignalsOfTools(t *testing.T) {
	const sec = time.Second
	type at struct {
		after time.Duration
		s     syscall.Signal
	}
	for name, c := range map[string]struct {
		come   []at
		killed bool
		passed []syscall.Signal // to the ranks, before they are killed
	}{
		"timeout":         {[]at{{0, syscall.SIGTERM}, {0, syscall.SIGTERM}, {0, syscall.SIGCONT}}, false, []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT}},
		"timeout -s INT":  {[]at{{0, syscall.SIGINT}, {0, syscall.SIGINT}}, false, []syscall.Signal{syscall.SIGINT}},
		"^C within 1 s":   {[]at{{0, syscall.SIGINT}, {sec - 1, syscall.SIGINT}}, false, []syscall.Signal{syscall.SIGINT}},
		"^C three times":  {[]at{{0, syscall.SIGINT}, {sec / 2, syscall.SIGINT}, {sec / 2, syscall.SIGINT}}, true, []syscall.Signal{syscall.SIGINT}},
		"^C after 3 s":    {[]at{{0, syscall.SIGINT}, {3 * sec, syscall.SIGINT}}, true, []syscall.Signal{syscall.SIGINT}},
		"TERM after 3 s":  {[]at{{0, syscall.SIGTERM}, {3 * sec, syscall.SIGTERM}}, true, []syscall.Signal{syscall.SIGTERM}},
		"systemd":         {[]at{{0, syscall.SIGTERM}, {0, syscall.SIGHUP}}, false, []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}},
		"a session ends":  {[]at{{0, syscall.SIGHUP}, {0, syscall.SIGTERM}}, false, []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}},
		"ssh is cut, end": {[]at{{0, syscall.SIGHUP}, {2 * sec, syscall.SIGTERM}}, true, []syscall.Signal{syscall.SIGHUP}},
		"others pass":     {[]at{{0, syscall.SIGTERM}, {0, syscall.SIGUSR1}, {0, syscall.SIGUSR1}}, false, []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &signalled{}
			j := &job{family: &family{events: make(chan func(), 64)}, spec: &plan.Spec{}, begun: true, running: 1}
			j.jobs, j.hosts = []*job{j}, []*host{{node: h}}
			for _, c := range c.come {
				time.Sleep(c.after)
				if !j.ending {
					j.signal(c.s)
				}
			}
			if j.ending != c.killed || c.killed && !strings.Contains(j.reason, "second signal") {
				t.Errorf("%s: ending %v (%s), want %v", name, j.ending, j.reason, c.killed)
			}
			for i, s := range c.passed {
				if i >= len(h.signals) || h.signals[i] != s {
					t.Errorf("%s: the ranks got %v, want %v first", name, h.signals, c.passed)
				}
			}
			if !c.killed && len(h.signals) != len(c.passed) {
				t.Errorf("%s: the ranks got %v, want %v", name, h.signals, c.passed)
			}
		})
	}
}

// saving is a rank that saves something when SIGTERM comes.
func saving(ready string) []string {
	return []string{"-n", "2", "rank", "init", "exchange", "notify:15", "ready:" + ready, "await:15", "sleep:100", "print:saved", "finalize"}
}

// BRD-05: under timeout(1), which signals the launcher and then its process group, ranks have the time to
// save their state.
func TestBRD05_UnderTimeout(t *testing.T) {
	timeout, err := exec.LookPath("timeout")
	if err != nil {
		t.Skip("no timeout here")
	}
	for range 4 {
		ready := filepath.Join(t.TempDir(), "ready")
		r := newRun(t, saving(ready)...)
		r.cmd.Path, r.cmd.Args = timeout, append([]string{"timeout", "600"}, append([]string{haloPath}, r.cmd.Args[1:]...)...)
		r.start()
		r.ready(ready, 2)
		r.cmd.Process.Signal(syscall.SIGTERM) // timeout passes it on as it does at the end of its time
		r.wait(0).printed("saved", "saved")
	}
}

// BRD-05: systemd and batch systems signal all processes of a job, then kill them.
func TestBRD05_AllProcessesAreSignalled(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, saving(ready)...).start()
	r.ready(ready, 2)
	all(t, r, syscall.SIGTERM)
	r.wait(0).printed("saved", "saved").quiet()

	// Ranks that the signal kills before the launcher has handled its own.
	ready = filepath.Join(t.TempDir(), "ready")
	r = newRun(t, "-n", "2", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	pids := r.ready(ready, 2)
	r.cmd.Process.Signal(syscall.SIGSTOP)
	awaitState(t, r.cmd.Process.Pid, "T")
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGTERM)
		awaitState(t, pid, "Z")
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Process.Signal(syscall.SIGCONT)
	r.wait(143).said("the job was ended by SIGTERM")

	ready = filepath.Join(t.TempDir(), "ready")
	r = newRun(t, "-n", "2", "rank", "init", "exchange", "ignore:15", "ready:"+ready, "orphan", "forever").start()
	r.ready(ready, 2)
	all(t, r, syscall.SIGTERM)
	all(t, r, syscall.SIGKILL)
	r.end()
	r.nothingLeft()
}

// all sends a signal to all processes of a run, its warden included.
func all(t *testing.T, r *run, s syscall.Signal) {
	t.Helper()
	pids := []int{r.cmd.Process.Pid}
	for _, p := range processesWith(r.marker) {
		first, _, _ := strings.Cut(p, " ")
		pid, _ := strconv.Atoi(first)
		pids = append(pids, pid)
	}
	if w := wardenOf(r.cmd.Process.Pid); w != 0 {
		pids = append(pids, w)
	}
	for _, pid := range pids {
		syscall.Kill(pid, s)
	}
}

// wardenOf returns the warden of a launcher.
func wardenOf(launcher int) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		line, _ := os.ReadFile(d + "/cmdline")
		if parentOf(pid) == launcher && strings.HasPrefix(string(line), agent.WardenName) {
			return pid
		}
	}
	return 0
}
