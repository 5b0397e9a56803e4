package main

import (
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// connected returns the two ends of a TCP connection over loopback, as
// descriptors that the Go runtime knows nothing of.
func connected() (a, b int, err error) {
	a, b = -1, -1
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return a, b, err
	}
	defer l.Close()
	out, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return a, b, err
	}
	defer out.Close()
	in, err := l.Accept()
	if err != nil {
		return a, b, err
	}
	defer in.Close()
	a, err = duplicate(out)
	if err != nil {
		return a, b, err
	}
	b, err = duplicate(in)
	if err != nil {
		syscall.Close(a)
	}
	return a, b, err
}

func duplicate(c net.Conn) (int, error) {
	tc, ok := c.(*net.TCPConn)
	if !ok {
		return -1, fmt.Errorf("%T is no TCP connection", c)
	}
	raw, err := tc.SyscallConn() // no delay is Go's default
	if err != nil {
		return -1, err
	}
	fd := -1
	err2 := raw.Control(func(s uintptr) { fd, err = syscall.Dup(int(s)) })
	if err == nil {
		err = err2
	}
	return fd, err
}

// move reads or writes all of p on a non-blocking socket, spinning.
func move(trap uintptr, fd int, p []byte) error {
	for len(p) > 0 {
		n, _, e := syscall.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch {
		case e == syscall.EAGAIN || e == syscall.EINTR:
		case e != 0:
			return e
		case n == 0:
			return fmt.Errorf("the peer has closed the connection")
		default:
			p = p[n:]
		}
	}
	return nil
}

// socketPing is a round trip of 8 bytes between two non-blocking sockets, both
// ends spinning.
func socketPing(n int) (time.Duration, error) {
	a, b, err := connected()
	if err != nil {
		return 0, err
	}
	defer syscall.Close(a)
	defer syscall.Close(b)
	ends := [2]int{a, b} // non-blocking, as package net made them
	var errs [2]error
	t, err := parallel(2, func(me int) {
		buf := make([]byte, 8)
		for range n {
			for turn := range 2 {
				trap := uintptr(syscall.SYS_WRITE)
				if turn != me {
					trap = syscall.SYS_READ
				}
				errs[me] = move(trap, ends[me], buf)
				if errs[me] != nil {
					syscall.Shutdown(ends[me], syscall.SHUT_RDWR) // so that the other end does not spin for ever
					return
				}
			}
		}
	})
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return t, err
}

// socketStream sends n MiB over a connection, both ends blocking.
func socketStream(n int) (time.Duration, error) {
	a, b, err := connected()
	if err != nil {
		return 0, err
	}
	defer syscall.Close(b)
	syscall.SetNonblock(a, false)
	syscall.SetNonblock(b, false)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer syscall.Close(a) // ends the reader in any case
		buf := make([]byte, 1<<20)
		for range n {
			for p := buf; len(p) > 0; {
				w, err := syscall.Write(a, p)
				if err == syscall.EINTR {
					continue
				}
				if err != nil {
					return
				}
				p = p[w:]
			}
		}
	})
	defer wg.Wait()
	defer syscall.Shutdown(b, syscall.SHUT_RDWR) // ends the writer in any case
	buf := make([]byte, 1<<20)
	start := time.Now()
	for left := n << 20; left > 0; {
		r, err := syscall.Read(b, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || r == 0 {
			return 0, fmt.Errorf("%d bytes missing: %v", left, err)
		}
		left -= r
	}
	return time.Since(start), nil
}
