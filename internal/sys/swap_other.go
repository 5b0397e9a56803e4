//go:build !linux

package sys

import (
	"context"
	"errors"
)

// SwapBytes sends and receives over a socket, on Linux only.
func SwapBytes(_ context.Context, _ int, _, _ []byte) error { return errors.ErrUnsupported }

// NoSocket reports whether an error of SwapBytes says that the descriptor is no stream socket.
func NoSocket(error) bool { return false }
