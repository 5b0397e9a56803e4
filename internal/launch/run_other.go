//go:build !unix

package launch

import (
	"fmt"
	"os"
	"runtime"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
)

// Run says that this platform cannot run jobs of several processes.
func Run(*plan.Spec) int {
	fmt.Fprintf(os.Stderr, "halo: starting ranks as processes is not supported on %s yet; "+
		"a program started by itself is a world of one, and mpi.Run makes ranks of goroutines\n", runtime.GOOS)
	return exit.Launcher
}

// Subprocess reports that this process is no subprocess of a launcher.
func Subprocess([]string) bool { return false }
