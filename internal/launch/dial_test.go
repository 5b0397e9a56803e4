//go:build linux

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sshLog returns the lines that the fake ssh of a run has written: mode, host and command each.
func sshLog(t *testing.T, r *run) []string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(filepath.Dir(strings.Fields(r.cmd.Args[3])[0]), "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
}

// X-LCH-01: hosts that come up after the launcher are awaited, within a bound that names the cause.
func TestHostsAreAwaited(t *testing.T) {
	t.Parallel()
	r := far(t, "late", "-await-hosts", "-host", "a,b", "-n", "2", "rank", "init", "exchange", "finalize", "print:x").start().wait(0).printed("x", "x").
		said("halo: waiting for a: ssh: Could not resolve hostname a").said("halo: waiting for b: ssh: ")
	if n := strings.Count(r.stderr.String(), "waiting for"); n != 2 {
		t.Errorf("the launcher says %d times for what it waits: %s", n, r.stderr.String())
	}
	pod := far(t, "late", "-host", "a", "-n", "1", "rank", "print:x")
	pod.cmd.Env = append(pod.cmd.Env, "K_MPI_JOB_ROLE=launcher")
	pod.start().wait(0).printed("x")
	far(t, "late", "-host", "a", "rank", "print:x").start().wait(125).said("cannot start an agent on a", "no host of that name").printed()
	far(t, "denied", "-await-hosts", "-host", "a", "rank", "print:x").start().wait(125).said("cannot start an agent on a", "refused the key").printed()
	far(t, "refused", "-await-hosts", "-ssh-timeout", "1s", "-host", "a", "rank", "print:x").start().wait(125).
		said("not ready within 1s: a (ssh has not connected: ssh: connect to host a port 22: Connection refused)").printed()
}

// A bounded number of agents is started at the same time, and the others when these have answered.
func TestAgentsAreStartedAFewAtATime(t *testing.T) {
	t.Parallel()
	r := far(t, "hang", "-ssh-limit", "2", "-ssh-timeout", "1s", "-host", "a,b,c", "rank", "print:x").start().wait(125)
	if log := sshLog(t, r); len(log) != 2 {
		t.Errorf("agents are being started at the same time: %q", log)
	}
	r = far(t, "run", "-ssh-limit", "1", "-host", "a,b,c", "rank", "init", "exchange", "finalize", "print:x").start().wait(0).quiet().printed("x", "x", "x")
	if log := sshLog(t, r); len(log) != 3 {
		t.Errorf("agents were started: %q", log)
	}
	// The next attempt of a host waits its turn, too.
	far(t, "late", "-ssh-limit", "1", "-await-hosts", "-host", "a,b", "rank", "init", "exchange", "finalize", "print:x").start().wait(0).printed("x", "x")
}
