//go:build !linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
)

// Memfd is not available on this platform.
func Memfd(name string, size int64) (*os.File, error) {
	return nil, fmt.Errorf("shared memory by memfd on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// NewBellFile is not available on this platform.
func NewBellFile() (*os.File, error) {
	return nil, fmt.Errorf("bells by descriptors on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// RingBell is not available on this platform.
func RingBell(*os.File) error {
	return fmt.Errorf("bells by descriptors on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Yield yields to another goroutine.
func Yield() { runtime.Gosched() }

// FutexWait yields to another goroutine and returns early.
func FutexWait(word *atomic.Uint32, want uint32) { runtime.Gosched() }

// FutexWake does nothing: there are no sleepers, see FutexWait.
func FutexWake(word *atomic.Uint32, n int) {}

// FutexWaitPrivate yields to another goroutine and returns early.
func FutexWaitPrivate(word *atomic.Uint32, want uint32) { runtime.Gosched() }

// FutexWakePrivate does nothing: there are no sleepers.
func FutexWakePrivate(word *atomic.Uint32, n int) {}

// CopyTo copies nothing.
func CopyTo(pid int, addr uint64, src []byte) bool { return false }

// CopyFrom copies nothing.
func CopyFrom(pid int, dst []byte, addr uint64) bool { return false }

// Dup is not available on this platform.
func Dup(f *os.File) (*os.File, error) {
	return nil, errors.New("another descriptor of " + f.Name() + ": not supported on " + runtime.GOOS)
}

// Map is not available on this platform.
func Map(f *os.File, size int64) ([]byte, error) {
	return nil, fmt.Errorf("mapping %s: %w on %s", f.Name(), errors.ErrUnsupported, runtime.GOOS)
}
