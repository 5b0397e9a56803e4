package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Epoll is a level-triggered set of descriptors, each with a number that the owner chooses. The runtime's
// own set is no substitute: while all processors compute the runtime polls it only every 10 ms.
type Epoll struct {
	fd     int
	events [32]unix.EpollEvent
}

// NewEpoll returns an empty set.
func NewEpoll() (*Epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &Epoll{fd: fd}, nil
}

// Add adds fd to the set. Ready reports it when it is readable.
func (p *Epoll) Add(fd int, number int32) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: number}
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &ev)
}

// Watch sets whether Ready reports fd, which is in the set, also when it is writable.
func (p *Epoll) Watch(fd int, number int32, write bool) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: number}
	if write {
		ev.Events |= unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, fd, &ev)
}

// Remove removes fd from the set. The caller closes fd only after that.
func (p *Epoll) Remove(fd int) error { return unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// Ready returns how many descriptors are ready now, at most 32. Number returns which. It does not
// block.
func (p *Epoll) Ready() int {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// Number returns the number of the i-th descriptor that the last Ready has found.
func (p *Epoll) Number(i int) int32 { return p.events[i].Fd }

// Close releases the set.
func (p *Epoll) Close() error { return unix.Close(p.fd) }

// Bell is a descriptor on which one goroutine sleeps and others wake it.
type Bell struct {
	fd  int
	set [2]unix.PollFd
}

// NewBell returns a bell that has not been rung.
func NewBell() (*Bell, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &Bell{fd: fd}, nil
}

// Ring wakes the sleeper, or lets the next Sleep return at once.
func (b *Bell) Ring() {
	one := uint64(1)
	unix.RawSyscall(unix.SYS_WRITE, uintptr(b.fd), uintptr(unsafe.Pointer(&one)), 8)
}

// Sleep blocks until the bell is rung or, if p is not nil, until a descriptor in p is ready. It may
// return early. It resets the bell, and reports whether a descriptor in p is ready.
func (b *Bell) Sleep(p *Epoll) (ready bool) {
	b.set[0] = unix.PollFd{Fd: int32(b.fd), Events: unix.POLLIN}
	b.set[1] = unix.PollFd{Fd: -1, Events: unix.POLLIN} // negative: the kernel skips it
	if p != nil {
		b.set[1].Fd = int32(p.fd)
	}
	if n, err := unix.Ppoll(b.set[:], nil, nil); n <= 0 || err != nil {
		return false
	}
	if b.set[0].Revents != 0 {
		var sum uint64
		unix.RawSyscall(unix.SYS_READ, uintptr(b.fd), uintptr(unsafe.Pointer(&sum)), 8)
	}
	return b.set[1].Revents != 0
}

// Close releases the bell; nobody may ring it any more.
func (b *Bell) Close() error { return unix.Close(b.fd) }
