//go:build unix && !linux

package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// DieWithParent does nothing: on this platform only the warden ends children
// whose launcher was killed.
func DieWithParent(*syscall.SysProcAttr) {}

// SharesBySession is false: this platform does not divide cores among sessions.
func SharesBySession() bool { return false }

// Suspend sends SIGTSTP to all processes of some process groups.
func Suspend(groups []int) {
	for _, g := range groups {
		syscall.Kill(-g, syscall.SIGTSTP)
	}
}

// Subreaper is not supported on this platform.
func Subreaper() error { return unsupported("adopting orphans") }

// Adopted is not supported on this platform: it finds none.
func Adopted() []int { return nil }

// KillByEnv is not supported on this platform: it finds none.
func KillByEnv(string) int { return 0 }

// Exiting is not supported on this platform: it knows of none.
func Exiting(int) bool { return false }

// AllowedCPUs returns the numbers of all CPUs.
func AllowedCPUs() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

// BindThread is not supported on this platform.
func BindThread([]int) error { return unsupported("binding to cores") }

// SelfPath returns a path by which this process can start its own program again.
func SelfPath() (string, error) { return os.Executable() }

func unsupported(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
