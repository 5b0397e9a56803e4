package launch

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Each rank that has a core is the first process of a session, so that it has a share of its core as a whole session of
// somebody else has. More ranks than cores stay in the session of the launcher, in which they can yield to each other, and
// so do those under nice, chrt and in a nice session, since these count only there.
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
		ranks      int
		before     []string
	}{
		{"as it is", "apart", 1, nil},
		{"more than cores", "together", runtime.NumCPU() + 1, nil},
		{"nice", "together", 1, []string{"nice", "-n", "5"}},
		{"batch", "together", 1, []string{"chrt", "-b", "0"}},
		{"nice session", "together", 1, []string{"sh", "-c", `echo 5 > /proc/self/autogroup && exec "$0" "$@"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t, "-n", strconv.Itoa(c.ranks), "sh", "-c", show)
			if c.before != nil {
				program, err := exec.LookPath(c.before[0])
				if err != nil {
					t.Skip(err)
				}
				r.cmd.Path, r.cmd.Args = program, append(c.before, append([]string{haloPath}, r.cmd.Args[1:]...)...)
			}
			r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // whose niceness the test may change
			r.start().wait(0)
			if got := r.stdout.String(); got != strings.Repeat(c.want+"\n", c.ranks) {
				t.Errorf("the ranks are %q, want %q from each", got, c.want)
			}
		})
	}
}
