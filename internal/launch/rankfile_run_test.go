//go:build linux

package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// -rankfile says on which host each rank runs, in any order, and how many ranks there are.
func TestRankFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ranks")
	if err := os.WriteFile(file, []byte("# hosts\nrank 2=a slot=0-1\n rank 0=a\nrank 1=b # the other\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	far(t, "run", "--rankfile", file, "rank", "init", "exchange", "hosts", "exchange", "finalize").start().wait(0).quiet().printed(
		"rank 0 hosts [a b] host [0 1 0] listen 127.0.0.1",
		"rank 1 hosts [a b] host [0 1 0] listen 127.0.0.1",
		"rank 2 hosts [a b] host [0 1 0] listen 127.0.0.1")
	far(t, "run", "-v", "-rf", file, "-n", "2", "rank", "init", "finalize").start().wait(0).said("without effect: slot= of -rankfile")
	far(t, "run", "-rankfile", file, "-n", "4", "rank", "init", "finalize").start().wait(2).said("4 ranks, but the hosts have 3 slots")
}
