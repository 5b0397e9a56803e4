package node

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// pollerBells is how processes of an oversubscribed node sleep: in Go's poller, until a peer
// writes to the eventfd of their bell.
//
// A goroutine that sleeps in a futex keeps a P until the runtime's monitor takes it. Its return
// wakes the monitor, which then checks every 20 us, for 10 ms, for other such goroutines. With 256
// processes on 2 cores these checks take most of the time. A goroutine in the poller holds no P
// and does not wake the monitor. With cores to spare the poller costs more: a write and two calls
// of epoll instead of one futex call.
//
// The job alone determines whether the node is oversubscribed and has bells, so sleepers and those
// that wake them agree.
//
// A process keeps descriptors of the bells of some peers, the first that it wakes. It asks the
// launcher to wake the others. That costs a message, and leaves descriptors for the program.
type pollerBells struct {
	sleeper *sys.Sleeper                // of this process
	wakers  []atomic.Pointer[sys.Waker] // by local process; nil before the first wake, or if the launcher wakes it
	left    int                         // how many more wakers may be kept; guarded by the mutex of mapped
}

// bellShare limits the descriptors of bells to one in bellShare of those that the process may have.
const bellShare = 4

// openBells makes this process sleep in Go's poller, and wake others there, if the job has bells:
// ranks that are goroutines of one process have none.
func (m *mapped) openBells() error {
	f, err := m.boot.Segment(boot.BellFile(m.job[m.me]))
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("shm: bell of process %d: %w", m.job[m.me], err)
	}
	bed, err := sys.NewSleeper(f)
	if err != nil {
		f.Close()
		return fmt.Errorf("shm: bell of process %d: %w", m.job[m.me], err)
	}
	m.bells = &pollerBells{sleeper: bed, wakers: make([]atomic.Pointer[sys.Waker], m.n), left: m.n}
	if files, ok := sys.LimitOfFiles(); ok {
		m.bells.left = int(min(files/bellShare, uint64(m.n)))
	}
	return nil
}

func (m *mapped) Sleep(bell *atomic.Uint32, seen uint32) {
	if m.bells == nil {
		sys.FutexWait(bell, seen)
		return
	}
	m.bells.sleeper.Sleep(bell, seen) // fails after Release: then it returns at once
}

func (m *mapped) Wake(i int, bell *atomic.Uint32) error {
	switch {
	case m.bells == nil:
		sys.FutexWake(bell, 1<<30)
		return nil
	case planted.BellNotRung:
		return nil
	case i == m.me:
		return m.bells.sleeper.Wake()
	}
	r := m.bells.wakers[i].Load()
	if r == nil {
		var err error
		r, err = m.waker(i)
		if err != nil {
			return err
		}
	}
	if r == nil {
		return m.boot.Ring(m.job[i])
	}
	return r.Wake()
}

// waker requests the bell of local process i from the launcher, and keeps it. It returns nil if this
// process has reached its limit of descriptors or gets none; then it makes no further requests.
func (m *mapped) waker(i int) (*sys.Waker, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.bells.wakers[i].Load()
	switch {
	case r != nil:
		return r, nil
	case m.closed:
		return nil, os.ErrClosed
	case m.bells.left == 0:
		return nil, nil
	}
	f, err := m.boot.Segment(boot.BellFile(m.job[i]))
	if err == nil {
		r, err = sys.NewWaker(f)
	}
	if err != nil {
		m.bells.left = 0
		return nil, nil
	}
	m.bells.left--
	m.bells.wakers[i].Store(r)
	return r, nil
}

// closeBells closes the descriptors of bells, once. The caller holds the mutex.
func (m *mapped) closeBells() error {
	closed := m.closed
	m.closed = true
	if closed || m.bells == nil {
		return nil
	}
	err := m.bells.sleeper.Close()
	for i := range m.bells.wakers {
		if r := m.bells.wakers[i].Load(); r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return err
}
