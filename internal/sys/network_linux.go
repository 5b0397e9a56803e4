package sys

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// InNetwork runs fn on a thread in the network namespace of a process, and returns its error. Sockets
// remain in the namespace in which they were made. Goroutines that fn starts run outside of it.
func InNetwork(pid int, fn func() error) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer ns.Close()
	result := make(chan error, 1)
	work := func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		var err error
		defer func() { result <- err }()
		err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			err = fn()
		}
	}
	go func() {
		// The first thread represents the process and never ends, so it must not enter the
		// namespace: this goroutine holds it until another thread has done the work.
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

// OpenTAP makes the Ethernet device name in the network namespace of the calling thread. A Read of the
// file returns a frame that the kernel sends there; a Write of a frame delivers it to the kernel. The
// device exists as long as the file.
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
