//go:build linux

package launch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/testrun"
)

// Promises F4 and F5 of security.md across hosts, with agents that a fake ssh starts on this host.
// hosts_real_test.go uses real hosts.

func TestDeathsElsewhereAreExplained(t *testing.T) {
	t.Parallel()
	r := farRun(t, 137, "-host", "a,b", "-n", "4", "rank", "init", "exchange", "2@note:Recv on world from 2 tag 7", "2@kill:9", "forever")
	r.said("halo: rank 2 (pid ", "on b)", "killed by signal 9 (SIGKILL", "in Recv on world from 2 tag 7", "see dmesg")
	farRun(t, 3, "-host", "a,b", "-n", "2", "rank", "init", "exchange", "1@exit:3", "forever").said("rank 1", "on b", "exited with status 3")
	farRun(t, 7, "-host", "a,b", "-n", "2", "rank", "init", "exchange", "1@abort:7", "forever").said("rank 1", "on b", "called Abort(7)", "of the test")
	farRun(t, 1, "-host", "a,b", "-n", "2", "rank", "init", "exchange", "1@exit:0", "forever").said("rank 1", "not mpi.Finalize")
	farRun(t, 1, "-host", "a,b", "-n", "2", "rank", "1@exit:0", "init", "exchange").said("rank 1", "on b", "had not called mpi.Init")
	for timeout := 400 * time.Millisecond; ; timeout *= 2 {
		r := farRun(t, 124, "-timeout", timeout.String(), "-host", "a,b", "-n", "3", "rank", "1@exit:0", "forever")
		if early := r.stderr.String(); strings.Contains(early, "were not ready") || strings.Contains(early, "ranks 0-2") {
			continue // a busy machine
		}
		r.said("-timeout "+timeout.String(), "still running: ranks 0, 2")
		break
	}
	farRun(t, 1, "-host", "a", "-n", "2", "sh", "-c", `echo "GET / HTTP/1.0" >&3; sleep 10`).said("on a", "broke the protocol")
	// An Exchange that can never complete fails on every host.
	farRun(t, 99, "-host", "a,b", "-n", "2", "rank", "init", "exchange", "1@finalize", "0@exchange").said("rank 1 has called Finalize")
}

// The message names the rank that was killed, on whichever host, and not the ranks that noticed it
// first.
func TestKilledRankElsewhereIsBlamed(t *testing.T) {
	for i := range 5 {
		killed := fmt.Sprintf("%d@kill:9", i%3)
		r := farRun(t, 137, "-host", "a,b,localhost", "-n", "3", "rank", "init", "exchange", killed, "lost", "exit:3")
		r.said("halo: rank "+killed[:1]+" ", "SIGKILL")
	}
}

func TestSurvivorsElsewhereHearThatTheJobIsOver(t *testing.T) {
	farRun(t, 3, "-host", "a,b", "-n", "3", "rank", "init", fmt.Sprintf("ignore:%d", syscall.SIGTERM), "exchange", "0@exit:3", "lost").printed("lost", "lost")
	farRun(t, 3, "-host", "a,b", "-n", "3", "rank", "init", fmt.Sprintf("ignore:%d", syscall.SIGTERM), "exchange", "0@exit:3", "forever")
	farRun(t, 0, "-host", "a,b", "-n", "2", "rank", "orphan", "init", "exchange", "finalize")
}

func TestSignalsReachRanksElsewhere(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", fmt.Sprintf("catch:%d", syscall.SIGUSR1), "ready:"+ready, "forever").start()
	r.ready(ready, 2)
	r.cmd.Process.Signal(syscall.SIGUSR1)
	line := fmt.Sprint("caught ", syscall.SIGUSR1)
	r.wait(0).quiet().printed(line, line)

	ready = filepath.Join(t.TempDir(), "ready")
	r = far(t, "run", "-host", "a,b", "-n", "2", "rank", "ready:"+ready, "forever").start()
	r.ready(ready, 2)
	r.cmd.Process.Signal(os.Interrupt)
	r.wait(130).said("halo: the job was ended by SIGINT")
}

// Promise F6: SIGQUIT shows what the ranks of all hosts wait for.
func TestQuitShowsAllHosts(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	r.ready(ready, 2)
	r.cmd.Process.Signal(syscall.SIGQUIT)
	r.wait(2).said("a (rank 0): job ").said("b (rank 1): job ")
}

// A signal ends the launcher while it still waits for the agents.
func TestInterruptWhileHostsAreReached(t *testing.T) {
	r := far(t, "hang", "-host", "a,b", "-n", "2", "rank").start()
	for len(processesWith(r.marker)) < 5 { // launcher, two of ssh, two sleeps
		time.Sleep(time.Millisecond)
	}
	r.cmd.Process.Signal(os.Interrupt)
	r.wait(130).said("ended by SIGINT")
	far(t, "hang", "-timeout", "100ms", "-host", "a", "rank").start().wait(124).said("not ready within -timeout 100ms")
}

// After SIGTSTP and SIGCONT the launcher and the ranks of all hosts continue.
func TestStopOfHostsIsNoSilence(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "ready:"+ready, "sleep:3000", "print:x").start()
	pids := append(r.ready(ready, 2), r.cmd.Process.Pid)
	r.cmd.Process.Signal(syscall.SIGTSTP)
	for _, pid := range pids {
		awaitState(t, pid, "T")
	}
	time.Sleep(talk.Silence + 2*talk.BeatInterval)
	r.cmd.Process.Signal(syscall.SIGCONT)
	r.wait(0).quiet().printed("x", "x")
}

// A launcher or agent that sends no heartbeat counts as dead.
func TestSilenceEndsTheJob(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "orphan", "ready:"+ready, "forever").start()
	pids := r.ready(ready, 2)
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGSTOP)
	for _, pid := range pids {
		for end := time.Now().Add(hangs); ; time.Sleep(time.Millisecond) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || strings.Contains(string(stat), ") Z ") { // the launcher would have to reap it
				break
			}
			if time.Now().After(end) {
				t.Fatal("the ranks of a silent launcher live")
			}
		}
	}
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGCONT)
	r.wait(125).said("is gone", "the job was ended")

	ready = filepath.Join(t.TempDir(), "ready")
	r = far(t, "run", "-host", "a,b", "-n", "3", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	r.ready(ready, 3)
	syscall.Kill(agents(r)[1], syscall.SIGSTOP)
	r.wait(125).said("has sent nothing for", "the connection is cut", "rank")
}

// The warden ends an agent that hangs. A launcher that was stopped meanwhile reports the silence of
// the agent, not only the end of ssh.
func TestLateLauncherTellsOfSilence(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a", "-n", "2", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	r.ready(ready, 2)
	syscall.Kill(agents(r)[0], syscall.SIGSTOP)
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGSTOP)
	for end := time.Now().Add(hangs); len(agents(r)) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the warden of a stopped agent does not end it")
		}
	}
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGCONT)
	r.wait(125).said("halo: a (ranks 0-1) has sent nothing for", "and its agent is gone (ssh", "the job was ended")
}

// agents returns the process ids of the agents of a run.
func agents(r *run) (pids []int) {
	for _, p := range processesWith(r.marker) {
		var pid int
		if words := strings.Fields(p); len(words) == 3 && words[1] == haloPath && words[2] == reach.AgentWord {
			fmt.Sscan(words[0], &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// Nothing is left after kill -9 of any process of the job at a random time.
func TestNothingIsLeftOfHostsAfterAKill(t *testing.T) {
	n := 10
	if testing.Short() {
		n = 6
	}
	for i := range n {
		ready := filepath.Join(t.TempDir(), "ready")
		r := far(t, "run", "-host", "a,b", "-n", "4", "rank", "ready:"+ready, "orphan", "init", "exchange", "exchange", "forever").start()
		if i%2 == 0 {
			r.ready(ready, 4)
			time.Sleep(time.Duration(rand.IntN(10000)) * time.Microsecond)
		} else {
			time.Sleep(time.Duration(rand.IntN(60000)) * time.Microsecond)
		}
		all := slices.DeleteFunc(processesWith(r.marker), unmissed)
		if len(all) == 0 {
			continue // the job has not begun
		}
		victim := all[rand.IntN(len(all))]
		var pid int
		fmt.Sscan(victim, &pid)
		syscall.Kill(pid, syscall.SIGKILL)
		hung, stop := testrun.Context(t.Context())
		select {
		case <-r.ended:
			r.nothingLeft()
		case <-hung.Done():
			t.Errorf("killed %s", victim)
			r.hang()
		}
		stop()
		if t.Failed() {
			t.Fatalf("killed %s; stderr %s", victim, r.stderr.String())
		}
		noWarden(t)
	}
}

// unmissed reports whether the job may survive the death of a process in the list of processesWith:
// an orphan of a rank, or a process around its exec, which may become a warden.
func unmissed(p string) bool {
	var pid, parent int
	fmt.Sscan(p, &pid)
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, rest, ok := strings.Cut(string(stat), ") "); ok && len(rest) > 2 {
		fmt.Sscan(rest[2:], &parent)
	}
	mine, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	its, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
	_, told, _ := strings.Cut(p, " ")
	return strings.ReplaceAll(string(mine), "\x00", " ") != told || told == rankPath+" forever " || string(mine) == string(its)
}
