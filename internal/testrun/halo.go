package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

// init lets the hosts of jobs take as long as they need to be ready. By default a launcher waits for them for 30 seconds,
// which they miss on a machine whose cores others use.
func init() { os.Setenv("HALO_SSH_TIMEOUT", "1h") }

// Halo builds the command halo in a directory, and returns its path. It has the planted faults if this binary has
// them.
func Halo(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "halo")
	args := []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", path}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-tags", Value: "faults"}) {
		args = append(args, "-tags=faults")
	}
	if out, err := exec.Command("go", append(args, "github.com/halo-mpi/halo/cmd/halo")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}
