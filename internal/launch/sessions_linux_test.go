package launch

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Each rank is the first process of a session, so that it has a share of its core as a whole session of somebody else has;
// under nice, chrt and a nice session all stay in the session of the launcher, in which these count.
func TestRanksAreSessions(t *testing.T) {
	if group, err := os.ReadFile("/proc/self/autogroup"); err != nil || !strings.HasSuffix(strings.TrimSpace(string(group)), " nice 0") {
		t.Skipf("the kernel does not share cores by session, or this one is nice: %q, %v", group, err)
	}
	if nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err != nil || nice != 20 {
		t.Skipf("the tests run with niceness %d (%v)", 20-nice, err)
	}
	const show = `read pid name state parent group session rest < /proc/$$/stat; test $session = $$ && echo apart || echo together`
	for _, c := range []struct {
		name, want string
		before     []string
	}{
		{"as it is", "apart", nil},
		{"nice", "together", []string{"nice", "-n", "5"}},
		{"batch", "together", []string{"chrt", "-b", "0"}},
		{"nice session", "together", []string{"sh", "-c", `echo 5 > /proc/self/autogroup && exec "$0" "$@"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t, "-n", "2", "sh", "-c", show)
			if c.before != nil {
				program, err := exec.LookPath(c.before[0])
				if err != nil {
					t.Skip(err)
				}
				r.cmd.Path, r.cmd.Args = program, append(c.before, append([]string{haloPath}, r.cmd.Args[1:]...)...)
			}
			r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // whose niceness the test may change
			r.start().wait(0)
			if got := r.stdout.String(); got != c.want+"\n"+c.want+"\n" {
				t.Errorf("the ranks are %q, want %q twice", got, c.want)
			}
		})
	}
}
