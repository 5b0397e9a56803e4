//go:build !linux

package main

import (
	"errors"
	"fmt"
)

// heap is not available on this platform.
func (p *process) heap(size int64) error {
	return fmt.Errorf("%d bytes of the heap: %w", size, errors.ErrUnsupported)
}
