// Package shm imports what it must not.
package shm

import (
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/tcp" // want layers "transports do not know each other"
	"github.com/halo-mpi/halo/internal/proc"       // want layers "internal/fabric/shm (transports) imports internal/proc (process), which is above it"
	"github.com/halo-mpi/halo/internal/unheard"    // want layers "has no layer"
	"github.com/halo-mpi/halo/internal/wire"
	"golang.org/x/sys/unix" // want imports "only internal/sys may"
)

var _ = []any{fabric.A, tcp.A, proc.A, unheard.A, wire.A, unix.EINTR}
