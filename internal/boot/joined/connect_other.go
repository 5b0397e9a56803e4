//go:build !linux

package joined

import (
	"fmt"
	"runtime"

	"github.com/halo-mpi/halo/internal/boot"
)

// connect reports that this system has no job engines that Halo joins.
func connect(way string, _, _ bool) (boot.Boot, error) {
	return nil, fmt.Errorf("%s on %s: jobs of other launchers than halo run are joined on Linux only: start the program with halo run -n N PROGRAM", way, runtime.GOOS)
}
