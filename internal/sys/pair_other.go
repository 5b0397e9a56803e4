//go:build !linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// PairFile is not available on this platform.
func PairFile(string, int64) (*os.File, error) {
	return nil, fmt.Errorf("shared memory of two jobs on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// OpenPairFile is not available on this platform.
func OpenPairFile(int, int, int64) (*os.File, error) {
	return nil, fmt.Errorf("shared memory of two jobs on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// ReadProcess is not available on this platform.
func ReadProcess(int, [][]byte, uint64) error {
	return fmt.Errorf("memory of other processes on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Vacate is not available on this platform.
func Vacate([]byte, bool) error {
	return fmt.Errorf("shared memory of two jobs on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
