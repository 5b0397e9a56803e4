//go:build !linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Sparse is not available on this platform.
func Sparse(name string, least, _, _ int64) (*os.File, error) { return Memfd(name, least) }

// Anonymous is not available on this platform.
func Anonymous(size int64) ([]byte, error) {
	return nil, fmt.Errorf("mapping %d bytes: %w on %s", size, errors.ErrUnsupported, runtime.GOOS)
}

// Scatter does nothing.
func Scatter(b []byte) {}

// Discard is not available on this platform.
func Discard(b []byte) error {
	return fmt.Errorf("giving back %d bytes: %w on %s", len(b), errors.ErrUnsupported, runtime.GOOS)
}

// Populate is not available on this platform.
func Populate(b []byte) error {
	return fmt.Errorf("making %d bytes of memory: %w on %s", len(b), errors.ErrUnsupported, runtime.GOOS)
}

// Unmap is not available on this platform.
func Unmap(b []byte) error {
	return fmt.Errorf("unmapping %d bytes: %w on %s", len(b), errors.ErrUnsupported, runtime.GOOS)
}

// AddressSpace returns approximately how many bytes a process may map.
func AddressSpace() int64 { return 1 << 40 }
