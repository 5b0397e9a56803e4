//go:build unix

package agent

import (
	"fmt"
	"runtime"

	"github.com/halo-mpi/halo/internal/sys"
)

// DefaultFabric is the best fabric of this host, and the reason if shared memory was expected
// and does not work.
func DefaultFabric() (name, why string) {
	if runtime.GOOS != "linux" {
		return "tcp", ""
	}
	if err := SharedMemory(); err != nil {
		return "tcp", fmt.Sprintf("the ranks use tcp: %v", err)
	}
	return "shm", ""
}

// SharedMemory is the error that prevents processes of this host from sharing memory, nil if
// they can. A seccomp filter may deny it.
func SharedMemory() error {
	f, err := sys.Memfd("halo-probe", 0)
	if err != nil {
		return fmt.Errorf("this host has no shared memory for -fabric shm: %w (a seccomp filter of the container may deny it); -fabric tcp does without", err)
	}
	return f.Close()
}
