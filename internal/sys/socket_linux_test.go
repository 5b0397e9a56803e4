package sys

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Sending and receiving orders the accesses of two goroutines for the race detector, which does not
// observe sockets by itself.
func TestSocketsMakeOrder(t *testing.T) {
	for name, send := range map[string]func(fd int, b []byte) (int, syscall.Errno){
		"Send":        Send,
		"Pieces.Send": func(fd int, b []byte) (int, syscall.Errno) { return new(Pieces).Send(fd, b, nil) },
		"Run.Send": func(fd int, b []byte) (int, syscall.Errno) {
			r := new(Run)
			r.Add(b)
			return r.Send(fd)
		},
	} {
		for _, receive := range []func(fd int, b []byte) (int, syscall.Errno){
			Recv,
			func(fd int, b []byte) (int, syscall.Errno) { return new(Pieces).Recv(fd, b, nil) },
		} {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			data := 0
			go func() {
				data = 42
				if n, e := send(fds[0], []byte{1}); n != 1 || e != 0 {
					t.Errorf("%s: %d bytes, %v", name, n, e)
				}
			}()
			b, n, e := make([]byte, 1), 0, unix.EAGAIN
			for e == unix.EAGAIN {
				n, e = receive(fds[1], b)
				if e == unix.EAGAIN {
					time.Sleep(time.Millisecond)
				}
			}
			if n != 1 || e != 0 || data != 42 {
				t.Errorf("%s: received %d bytes, %v, and see %d", name, n, e, data)
			}
			for _, fd := range fds {
				if err := CloseFD(fd); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
