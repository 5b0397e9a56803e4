//go:build linux

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeSrun replaces srun: it starts a process for each node with the same input, here.
const fakeSrun = `#!/bin/sh
[ "$1" = --version ] && { echo slurm-wlm 22.05.8; exit 0; }
[ "$FAKE_SRUN" = fails ] && { echo "srun: error: Unable to create step: Invalid job" >&2; exit 1; }
cat >"$FAKE_DIR/input"
while [ "${1#--}" != "$1" ]; do
	case $1 in
	--nodelist=*) nodes=$(echo "${1#--nodelist=}" | tr , ' ') ;;
	esac
	shift
done
for n in $nodes; do
	[ $n = n2 ] && [ "$FAKE_SRUN" = lost ] && n=n3
	SLURMD_NODENAME=$n SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "$@" <"$FAKE_DIR/input" &
done
wait
`

// stepRun prepares halo run in a job of a pretended Slurm with two nodes of two slots.
func stepRun(t *testing.T, mode string, args ...string) *run {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte(fakeSrun), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, append([]string{"-iface", "lo"}, args...)...)
	r.cmd.Env = append(r.cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"), "FAKE_DIR="+dir, "FAKE_SRUN="+mode,
		"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2(x2)")
	return r
}

// X-LCH-01: one step starts the agents of all nodes, which call the launcher; its ends are explained.
func TestAgentsOfAStep(t *testing.T) {
	t.Parallel()
	stepRun(t, "", "rank", "init", "exchange", "job", "finalize").start().wait(0).quiet().printed(
		"rank 0 of 4 local [0 1] fabric shm app 0 secret true", "rank 1 of 4 local [0 1] fabric shm app 0 secret true",
		"rank 2 of 4 local [2 3] fabric shm app 0 secret true", "rank 3 of 4 local [2 3] fabric shm app 0 secret true")
	stepRun(t, "", "rank", "init", "exchange", "3@exit:3", "forever").start().wait(3).said("rank 3 ", "on n2", "exited with status 3")
	stepRun(t, "fails", "rank").start().wait(125).said("cannot start an agent on n", "srun exited with status 1: srun: error: Unable to create step: Invalid job")
	stepRun(t, "lost", "-ssh-timeout", "2s", "rank").start().wait(125).said("not ready within 2s: n2 (srun has not connected: halo agent on ", "this node is none of n1, n2")

	ready := filepath.Join(t.TempDir(), "ready")
	killed := stepRun(t, "", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	syscall.Kill(parent(t, killed.ready(ready, 4)[3]), syscall.SIGKILL)
	killed.wait(125).said("the agent on n2 (ranks 2-3) is gone")

	late := stepRun(t, "", "rank", "init", "exchange", "ready:"+ready+"2", "forever").start()
	late.ready(ready+"2", 4)
	begin := time.Now()
	late.cmd.Process.Signal(syscall.SIGKILL)
	late.wait(137)
	t.Logf("nothing is left %v after the launcher was killed", time.Since(begin).Round(time.Millisecond))
	if strings.Contains(late.stderr.String(), "panic") {
		t.Error(late.stderr.String())
	}
}
