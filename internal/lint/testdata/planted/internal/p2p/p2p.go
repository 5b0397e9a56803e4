// Package p2p keeps state where it must not.
package p2p

import (
	"errors"
	"fmt"
	"sync"

	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/mpi"   // want layers "which is above it" want layers "do not call it"
	_ "github.com/rs/zerolog"        // want imports "the core uses the standard library and golang.org/x/sys only"
	_ "golang.org/x/sysadmin/matter" // want imports "the core uses the standard library"
)

type waiter interface{ wait() }

type request struct{}

func (request) wait() {}

var _ waiter = request{}

var ErrFull = errors.New("full")

var (
	errShort = fmt.Errorf("short: %w", ErrFull)
	once     sync.Once           // want state "package-level variable once"
	count    int                 // want state "package-level variable count"
	a, b     = errors.New(""), 1 // want state "package-level variable a" want state "package-level variable b"
)

var names = map[int]string{} // want state "package-level variable names"

func keep() any {
	var local int
	return []any{proc.A, mpi.Send, errShort, &once, &count, a, b, names, local}
}
