//go:build unix

package testrun

import (
	"os"
	"os/exec"
	"testing"
)

// Children of a test whose shell ignores SIGINT, as it does in background commands, are ended by it all the same.
func TestDefaultSignals(t *testing.T) {
	const inside = "HALO_TEST_SIGNALS"
	child := func() string {
		out, _ := exec.Command("sh", "-c", "kill -INT $$; echo lives").CombinedOutput()
		return string(out)
	}
	if os.Getenv(inside) != "" {
		if child() == "" {
			t.Error("SIGINT is not ignored here")
		}
		DefaultSignals()
		if child() != "" {
			t.Error("a child ignores SIGINT")
		}
		return
	}
	cmd := exec.Command("sh", "-c", `trap "" INT; exec "$0" -test.run='^TestDefaultSignals$'`, os.Args[0])
	cmd.Env = append(os.Environ(), inside+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
