package launch

import (
	"testing"

	"github.com/halo-mpi/halo/internal/launch/exit"
)

// ways start a program on a fabric of one host, or on two hosts. Its last argument is a new folder.
func ways(args ...string) map[string]func(t *testing.T) *run {
	line := func(t *testing.T, more ...string) []string { return append(append(more, args...), t.TempDir()) }
	return map[string]func(t *testing.T) *run{
		"shm":   func(t *testing.T) *run { return newRun(t, line(t, "-fabric", "shm")...) },
		"tcp":   func(t *testing.T) *run { return newRun(t, line(t, "-fabric", "tcp")...) },
		"hosts": func(t *testing.T) *run { return far(t, "run", line(t, "-host", "a:2,b:2")...) },
	}
}

// X-SES-01: two ranks open a session, make a communicator, communicate and finalize while all others
// are stopped, and never call MPI at all.
func TestXSES01_SessionsDoNotNeedTheOthers(t *testing.T) {
	for name, start := range ways("-n", "4", sessionPath, "some") {
		t.Run(name, func(t *testing.T) { start(t).start().wait(0).printed("no errors") })
	}
}

// X-SES-01: sessions before, beside and after the world model; the process may end after the last.
func TestXSES01_SessionsAroundTheWorldModel(t *testing.T) {
	for name, start := range ways("-n", "4", sessionPath, "around") {
		t.Run(name, func(t *testing.T) {
			start(t).start().wait(0).printed("no errors", "no errors", "no errors", "no errors")
		})
	}
}

// X-SES-01: the launcher's process sets: blocks of the command line, and names given to them.
func TestXSES01_ProcessSetsOfTheLauncher(t *testing.T) {
	newRun(t, "-n", "2", "-pset", "ocean", sessionPath, "psets", ":",
		"-n", "1", "-pset", "ice", "-pset", "ocean", sessionPath, "psets").start().wait(0).
		printed("mpi://WORLD 3", "mpi://SELF 1", "mpi://SELF 1", "mpi://SELF 1", "host 3", "halo://app/0 2", "halo://app/1 1", "ocean 3", "ice 1")
	for _, bad := range []string{"", "mpi://mine", "HALO://x", "a\tb"} {
		newRun(t, "-pset", bad, sessionPath, "psets").start().wait(exit.Usage).said("-pset")
	}
}

// X-SES-01, F4: nothing is left of a job of which a rank is killed before or while others make a
// communicator with it.
func TestXSES01_F4_KilledWhileACommunicatorIsMade(t *testing.T) {
	for _, when := range []string{"unopened", "opened", "amid"} {
		for name, start := range ways("-n", "4", sessionPath, when) {
			t.Run(when+" "+name, func(t *testing.T) {
				t.Parallel()
				start(t).start().wait(137).said("rank 3", "SIGKILL")
			})
		}
	}
}

// X-SES-01: a session that is not finalized, and an end where others wait, end the job and are
// explained.
func TestXSES01_EndsOfProcessesWithSessions(t *testing.T) {
	newRun(t, "-n", "2", sessionPath, "leaves").start().wait(1).said("had opened a session and not finalized it")
	newRun(t, "-n", "2", sessionPath, "early").start().wait(1).said("rank 1", "had not called", "rank 0 waits for it there")
	newRun(t, "-n", "2", "-fabric", "tcp", sessionPath, "ends").start().wait(1).said("rank 1", "has ended without a session")
}
