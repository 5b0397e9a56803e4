package sys

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// NewBellFile makes an eventfd by which several processes wake one: that one sleeps with a Sleeper,
// and each other one wakes it with a Waker. Nobody reads the eventfd. Go's poller is edge-triggered,
// so each write is an event of its own, and the counter has room for 2^64 writes.
//
// Go's poller watches the eventfd in processes that receive it, but not in this one: os.NewFile does
// not add descriptors that block to the poller.
func NewBellFile() (*os.File, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "bell")
	if err := unix.SetNonblock(fd, true); err != nil {
		f.Close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	return f, nil
}

// RingBell makes the Sleeper of a file of NewBellFile load its word. It is for the process that made
// the file.
func RingBell(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var e syscall.Errno
	if err := raw.Control(func(fd uintptr) { e = ring(int(fd)) }); err != nil {
		return err
	}
	return rung(e)
}

// Sleeper lets one goroutine at a time sleep in Go's poller until somebody writes to a file of
// NewBellFile. Asleep it holds neither a thread nor a P. Sleeping and waking allocate nothing.
type Sleeper struct {
	file *os.File
	raw  syscall.RawConn
	word *atomic.Uint32
	seen uint32
	look func(fd uintptr) bool // made once, since a closure for each sleep would be an allocation
	ring func(fd uintptr)
}

// NewSleeper takes over a descriptor of a file of NewBellFile that this process has received.
func NewSleeper(f *os.File) (*Sleeper, error) {
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("the poller cannot watch %s: %w", f.Name(), err)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &Sleeper{file: f, raw: raw}
	s.look = func(uintptr) bool { return s.word.Load() != s.seen } // pairs with the store before the Wake
	s.ring = func(fd uintptr) { ring(int(fd)) }
	return s, nil
}

// Sleep sleeps while *word is seen. A goroutine that changes the word must call Wake of the Sleeper or
// of a Waker after that. Sleep fails early when the Sleeper is closed.
func (s *Sleeper) Sleep(word *atomic.Uint32, seen uint32) error {
	s.word, s.seen = word, seen
	return s.raw.Read(s.look) // calls look now and after each event
}

// Wake makes Sleep load its word. It fails if the Sleeper is closed.
func (s *Sleeper) Wake() error { return s.raw.Control(s.ring) }

// Close ends a Sleep in progress. Later ones fail.
func (s *Sleeper) Close() error { return s.file.Close() }

// Waker wakes the Sleeper of another process. Several goroutines may use it at once.
type Waker struct {
	mu sync.Mutex // guards fd: its number must not be used again, for another file, within Wake
	fd int        // negative if closed
}

// NewWaker takes over a descriptor of a file of NewBellFile. It duplicates the descriptor, because
// Go's poller would watch f, and so wake this process whenever another one wakes the Sleeper.
func NewWaker(f *os.File) (*Waker, error) {
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &Waker{fd: -1}
	var dup error
	err = raw.Control(func(fd uintptr) { r.fd, dup = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil {
		err = dup
	}
	if err != nil {
		return nil, fmt.Errorf("dup of %s: %w", f.Name(), err)
	}
	return r, nil
}

// Wake makes Sleep load its word. It does not block. It fails with os.ErrClosed after Close.
func (r *Waker) Wake() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fd < 0 {
		return os.ErrClosed
	}
	return rung(ring(r.fd))
}

// Close releases the descriptor.
func (r *Waker) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fd < 0 {
		return os.ErrClosed
	}
	fd := r.fd
	r.fd = -1
	return unix.Close(fd)
}

// ring increments an eventfd.
func ring(fd int) syscall.Errno {
	one := uint64(1)
	_, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8)
	return e
}

// rung returns the error of a ring.
func rung(e syscall.Errno) error {
	if e != 0 {
		return fmt.Errorf("write to an eventfd: %w", e)
	}
	return nil
}
