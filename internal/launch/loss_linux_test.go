package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// BRD-06: a job whose stdout cannot be written goes on. The launcher says so once, on stderr, and its status tells it
// at the end, unless the job fails otherwise.
func TestBRD06_LostOutputDoesNotEndTheJob(t *testing.T) {
	for _, c := range []struct {
		name, why string
		status    int
		prepare   func(t *testing.T, r *run) (after func())
	}{
		{"closed", "it was closed when the launcher was started", 125, func(_ *testing.T, r *run) func() {
			if !hasC(t) {
				t.Skip("the launcher is built without C: Go's runtime hides that a descriptor is closed")
			}
			r.through(`exec "$0" "$@" >&-`)
			return func() {}
		}},
		{"full", "no space left", 125, func(t *testing.T, r *run) func() {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip("no /dev/full here:", err)
			}
			r.cmd.Stdout = full
			return func() { full.Close() }
		}},
		{"reader", "its reader has gone", 128 + int(syscall.SIGPIPE), func(t *testing.T, r *run) func() {
			out, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			out.Close()
			r.cmd.Stdout = w
			return func() { w.Close() }
		}},
	} {
		for _, end := range []string{"exit:0", "exit:7"} {
			for _, line := range [][]string{{"-n", "3"}, {"-n", "2", "-tag-output"}} {
				done := filepath.Join(t.TempDir(), "done")
				r := newRun(t, append(line, "rank", "init", "print:lost", "print:lost", "stderr:kept", "sleep:50", "print:lost", "ready:"+done, "exchange", "finalize", end)...)
				after := c.prepare(t, r)
				r.start()
				after()
				status := c.status
				if end != "exit:0" {
					status = 7
				}
				r.wait(status).said("output of the ranks cannot be written, and is lost: ", c.why, "the job goes on").said("kept")
				r.ready(done, 2)
				if n := strings.Count(r.stderr.String(), "is lost"); n != 1 {
					t.Errorf("%s: said %d times", c.name, n)
				}
			}
		}
	}
}

// BRD-06: the same for ranks on other hosts.
func TestBRD06_LostOutputOfOtherHosts(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here:", err)
	}
	defer full.Close()
	r := far(t, "run", "-host", "a:2,b:2", "-n", "4", "rank", "init", "exchange", "lines:2000,200", "exchange", "finalize")
	r.cmd.Stdout = full
	r.start().wait(125).said("is lost", "no space left")
}
