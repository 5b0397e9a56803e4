//go:build !linux

package node

import (
	"fmt"
	"runtime"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
)

// Open is not available on this platform: use the tcp fabric.
func Open(boot.Boot) (*Node, error) {
	return nil, fmt.Errorf("shared memory between processes on %s: %w", runtime.GOOS, fabric.ErrUnsupported)
}
