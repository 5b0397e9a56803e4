//go:build unix

package launch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

func TestSignalsReachTheRanks(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1} {
		ready := filepath.Join(t.TempDir(), "ready")
		r := newRun(t, "-n", "3", "rank", fmt.Sprintf("catch:%d", s), "ready:"+ready, "forever").start()
		r.ready(ready, 3)
		r.cmd.Process.Signal(s)
		line := fmt.Sprint("caught ", s)
		r.wait(0).printed(line, line, line)
		if s == syscall.SIGQUIT {
			r.said("RANK", "WAITS FOR") // see TestF6_QuitShowsWhatRanksWaitFor
		} else {
			r.quiet()
		}
	}
}

func TestInterruptEndsTheJob(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "3", "rank", "ready:"+ready, "forever").start()
	r.ready(ready, 3)
	r.cmd.Process.Signal(os.Interrupt)
	r.wait(130).said("halo: the job was ended by SIGINT")
}

// If ranks call Abort because of SIGINT, the launcher reports the SIGINT and not the Abort.
func TestInterruptExplainsTheAbortsItCauses(t *testing.T) {
	for _, args := range [][]string{{"yield:2"}, {"flee:2"}, {"0@yield:2"}, {"0@flee:2"}, {"yield:2", "ignore:15"}} {
		ready := filepath.Join(t.TempDir(), "ready")
		args = append(append([]string{"-n", "2", "rank", "init", "exchange"}, args...), "ready:"+ready, "forever")
		r := newRun(t, args...).start()
		r.ready(ready, 2)
		r.cmd.Process.Signal(os.Interrupt)
		r.end()
		r.wait(r.status).said("halo: the job was ended by SIGINT")
		if r.status != 7 && r.status != 130 || strings.Contains(r.stderr.String(), "Abort") {
			t.Errorf("%v: status %d, stderr: %s", args, r.status, r.stderr.String())
		}
	}
}

func TestSecondInterruptKills(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "3", "rank", "ignore:2", "ignore:15", "ready:"+ready, "forever").start()
	pids := r.ready(ready, 3)
	r.cmd.Process.Signal(os.Interrupt)
	for _, pid := range pids { // the launcher has passed the first SIGINT on, and the ranks ignore it
		for syscall.Kill(pid, 0) != nil {
			t.Fatalf("pid %d is gone", pid)
		}
	}
	r.cmd.Process.Signal(os.Interrupt)
	// A signal is lost while another one of the same number is pending: send it until it has an effect.
	for ended := false; !ended; {
		select {
		case <-r.ended:
			ended = true
		case <-time.After(100 * time.Millisecond):
			r.cmd.Process.Signal(os.Interrupt)
		}
	}
	r.wait(130).said("killed by a second signal, SIGINT")
}

func TestStopAndContinue(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("states of processes are read from /proc")
	}
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "2", "rank", "ready:"+ready, "forever").start()
	pids := append(r.ready(ready, 2), r.cmd.Process.Pid)
	r.cmd.Process.Signal(syscall.SIGTSTP)
	for _, pid := range pids {
		awaitState(t, pid, "T")
	}
	r.cmd.Process.Signal(syscall.SIGCONT)
	for _, pid := range pids {
		awaitState(t, pid, "SR")
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
}

// A rank that has an action of its own for SIGTSTP is not stopped, and what it has started is.
func TestStopActionsOfRanks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("states of processes are read from /proc")
	}
	said := filepath.Join(t.TempDir(), "said")
	const script = `trap 'echo action >> $0' TSTP; sleep 1000 & child=$!; echo $$ $child > $0.new; mv $0.new $0
		while :; do wait $child; done`
	r := newRun(t, "-n", "1", "sh", "-c", script, said).start()
	var rank, child int
	testrun.Until(t, "the rank says who it is", func() bool {
		text, _ := os.ReadFile(said)
		n, _ := fmt.Sscan(string(text), &rank, &child)
		return n == 2
	})
	r.cmd.Process.Signal(syscall.SIGTSTP)
	awaitState(t, r.cmd.Process.Pid, "T")
	awaitState(t, child, "T")
	testrun.Until(t, "the rank runs its action", func() bool {
		text, _ := os.ReadFile(said)
		return strings.HasSuffix(string(text), "action\n")
	})
	awaitState(t, rank, "SR")
	r.cmd.Process.Signal(syscall.SIGCONT)
	awaitState(t, child, "SR")
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
}

// Promise F5: a launcher that SIGSTOP stops, which it cannot catch, may delay its ranks but loses
// nothing.
func TestF5_StoppedLauncherLosesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("states of processes are read from /proc")
	}
	c := &checker{t: t, ranks: 3, longest: 200, next: make([]int, 3)}
	r := newRun(t, "-n", "3", "rank", "lines:20000,200")
	r.cmd.Stdout = c
	r.start()
	pid := r.cmd.Process.Pid
	for range 10 {
		if syscall.Kill(pid, syscall.SIGSTOP) != nil {
			break
		}
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
		syscall.Kill(pid, syscall.SIGCONT)
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	}
	r.wait(0).quiet()
	c.done(20000)

	// The launcher explains the death of a rank that died meanwhile.
	ready := filepath.Join(t.TempDir(), "ready")
	r = newRun(t, "-n", "3", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	pids := r.ready(ready, 3)
	pid = r.cmd.Process.Pid
	syscall.Kill(pid, syscall.SIGSTOP)
	awaitState(t, pid, "T")
	syscall.Kill(pids[1], syscall.SIGKILL)
	awaitState(t, pids[1], "Z")
	syscall.Kill(pid, syscall.SIGCONT)
	r.wait(137).said(fmt.Sprintf("rank 1 (pid %d", pids[1]), "SIGKILL")

	// A stopped launcher can be killed.
	ready = filepath.Join(t.TempDir(), "ready")
	r = newRun(t, "-n", "3", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	r.ready(ready, 3)
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGSTOP)
	awaitState(t, r.cmd.Process.Pid, "T")
	r.cmd.Process.Kill()
	r.end()
	r.nothingLeft()
}

// awaitState waits until a process is in one of the states, as ps names them.
func awaitState(t *testing.T, pid int, states string) {
	t.Helper()
	var state string
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, rest, ok := strings.Cut(string(stat), ") "); ok {
			state = rest[:1]
			if strings.Contains(states, state) {
				return
			}
		}
	}
	t.Fatalf("pid %d is in state %q, want %s", pid, state, states)
}

func TestIgnoredSignalsStayIgnored(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t)
	r.cmd.Args = append([]string{"nohup", haloPath, "run", "-n", "2", rankPath}, "ready:"+ready, "sleep:100", "print:x")
	r.cmd.Path = "/usr/bin/nohup"
	if _, err := os.Stat(r.cmd.Path); err != nil {
		t.Skip("no nohup here")
	}
	r.start()
	r.ready(ready, 2)
	r.cmd.Process.Signal(syscall.SIGHUP)
	r.wait(0).printed("x", "x")
}
