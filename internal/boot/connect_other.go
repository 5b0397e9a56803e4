//go:build !linux

package boot

import (
	"errors"
	"fmt"
)

// meet is not supported on this platform, whose launcher has no such socket.
func meet(note *linkNote, _ greeting) (*launched, error) {
	return nil, fmt.Errorf("socket @%s: %w", note.name, errors.ErrUnsupported)
}
