//go:build !linux

package sys

import (
	"errors"
	"os"
	"runtime"
)

// Memfd is not available on this platform.
func Memfd(name string, size int64) (*os.File, error) {
	return nil, errors.New("shared memory by memfd: not supported on " + runtime.GOOS)
}

// Yield gives the core to another goroutine.
func Yield() { runtime.Gosched() }

// Dup is not available on this platform.
func Dup(f *os.File) (*os.File, error) {
	return nil, errors.New("another descriptor of " + f.Name() + ": not supported on " + runtime.GOOS)
}
