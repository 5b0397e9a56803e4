package sys

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// InNetwork runs fn on a thread inside the network namespace of a process, and
// returns its error. Sockets stay in the namespace in which they were made. fn
// must do the work itself: goroutines that it starts run outside.
func InNetwork(pid int, fn func() error) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer ns.Close()
	result := make(chan error, 1)
	work := func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		var err error
		defer func() { result <- err }()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err == nil {
			err = fn()
		}
	}
	go func() {
		// The first thread stands for the process and does not end: it stays
		// where it is, held until the work is done elsewhere.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if unix.Gettid() != unix.Getpid() {
			work()
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			work()
		}()
		<-done
	}()
	return <-result
}

// OpenTAP makes the Ethernet device name in the network namespace of the calling
// thread: what its kernel sends there is read, frame by frame, and what is
// written it receives. The device lasts as long as the file.
func OpenTAP(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("device %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
