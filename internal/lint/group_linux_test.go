package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// BRD-09: tools/parts runs the parts in a control group with a limit of memory, in which tests can make groups of
// their own. The group is gone at the end, also after an interrupt, and with it what the tests have left behind.
func TestBRD09_PartsRunInAControlGroup(t *testing.T) {
	testrun.MemoryGroup(t, 1<<30) // skips the test where nobody can make one
	for name, c := range map[string]struct {
		part   string // the part of make test that the substitute of make runs in place of its rules
		does   string
		says   string
		signal bool
		status int
	}{
		"passes":         {"gofmt", ":", "the tests have 300M of memory", false, 0},
		"fails":          {"gofmt", "exit 2", "make gofmt has failed", false, 2},
		"leaves":         {"rules", "sleep 1000 & echo $! >left", "left behind by the tests, and ended:", false, 0},
		"is interrupted": {"gofmt", "sleep 1000 & echo $! >left; wait", "", true, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			substitute := "#!/bin/sh\ncd " + dir + "\necho $HALO_TEST_GROUPS >group\ncat /proc/self/cgroup >inside\n" +
				"mkdir $HALO_TEST_GROUPS/own && cat $HALO_TEST_GROUPS/memory.max $HALO_TEST_GROUPS/memory.limit_in_bytes >limit\n" +
				c.does + "\n"
			program := filepath.Join(dir, "make")
			if err := os.WriteFile(program, []byte(substitute), 0o755); err != nil {
				t.Fatal(err)
			}
			testrun.DefaultSignals()
			cmd := exec.Command("../../tools/parts", c.part)
			cmd.Env = append(os.Environ(), "MAKE="+program, "HALO_TEST_MEMORY=300M")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as in a terminal
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if c.signal {
				for !there(filepath.Join(dir, "left")) {
					time.Sleep(10 * time.Millisecond)
				}
				syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
			}
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(out.String(), c.says) {
				t.Errorf("status %d, want %d; it says\n%s", got, c.status, out.String())
			}
			read := func(name string) string {
				text, _ := os.ReadFile(filepath.Join(dir, name))
				return strings.TrimSpace(string(text))
			}
			group := read("group")
			if group == "" || !strings.Contains(read("inside"), filepath.Base(group)+"/run") || read("limit") != "314572800" {
				t.Errorf("group %q of %q bytes; the part runs in %s", group, read("limit"), read("inside"))
			}
			if there(group) {
				t.Error("the control group is left")
			}
			var stat []byte
			if pid := read("left"); pid != "" {
				stat, _ = os.ReadFile("/proc/" + pid + "/stat")
			}
			if len(stat) > 0 && !strings.Contains(string(stat), ") Z ") { // its parent is process 1, which may be slow
				t.Errorf("a process is left: %s", stat)
			}
		})
	}
}

func there(file string) bool {
	info, err := os.Stat(file)
	return err == nil && (info.IsDir() || info.Size() > 0)
}
