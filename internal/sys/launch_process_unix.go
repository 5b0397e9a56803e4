//go:build unix

package sys

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// WaitChild waits for the end of any child and reaps it. With block false it
// returns pid 0 if none has ended; without children the error is syscall.ECHILD.
func WaitChild(block bool) (pid int, status syscall.WaitStatus, err error) {
	options := 0
	if !block {
		options = syscall.WNOHANG
	}
	for {
		pid, err = syscall.Wait4(-1, &status, options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return pid, status, err
		}
	}
}

// SignalName returns the name of a signal, such as SIGKILL.
func SignalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

// Terminal reports whether f is a terminal.
func Terminal(f *os.File) bool {
	var t bool
	onDescriptor(f, func(fd int) {
		_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		t = err == nil
	})
	return t
}

// Foreground reports whether the process group of this process is the foreground group of terminal f.
func Foreground(f *os.File) bool {
	var mine bool
	onDescriptor(f, func(fd int) {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		mine = err == nil && group == unix.Getpgrp()
	})
	return mine
}

// onDescriptor calls fn without making f blocking, as File.Fd would.
func onDescriptor(f *os.File, fn func(fd int)) {
	if raw, err := f.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { fn(int(fd)) })
	}
}

// OwnGroup makes a child the first process of a process group, so that the terminal sends it no signals.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
