package proc

import (
	"runtime"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// threadQueue makes the threads of one process wait for each other.
//
// A goroutine that is locked to its thread, as all that come from C are, is expensive for
// the Go scheduler. When it parks, its thread hands its P to another thread; when it
// continues, that thread hands the P back. Each is two switches between threads, and so is
// Gosched. Therefore threads sleep in the kernel, wake each other there, and yield their
// cores rather than their Ps. With 32 threads that put and flush over TCP that halves the
// time.
//
// A thread that wakes up needs a P to continue. A thread that sleeps in the kernel keeps its
// P as long as there are free Ps for others. So there are more Ps than threads that sleep at
// a time (ps).
//
// Waiters whose event has happened are woken one by one: each wakes the next when it has the
// lock. If all were woken at once they would contend for the lock, and each that loses would
// sleep once more. A waiter wakes the next before its call returns to the program, so no
// waiter depends on what the program does between its calls.
type threadQueue struct {
	rec *shmfmt.ProcessRecord // of the process: a thread that wants the lock sleeps until Freed changes

	waking     bool    // a thread has been woken and does not have the lock yet
	pending    []*park // to be woken after it
	ps         int     // Ps
	yieldsLeft int     // how often the poller still yields for threads that may call soon

	raising sync.Mutex // orders changes of the number of Ps; the lock is not taken while it is held
}

const (
	// lockYields is how often a thread yields its core before it sleeps for the lock. All
	// holders but the poller hold the lock for about a microsecond, and the poller yields it.
	lockYields = 2
	// psMax bounds the number of Ps: with very many the scheduler searches long for work.
	psMax = 128
	// psPerThread is how many Ps there are at least for each thread that sleeps: threads that
	// run code of the program keep theirs for a while, and not all sleep at once.
	psPerThread = 4
	// yieldEvery is after how many polls that find nothing the poller yields its core for other
	// threads, and for those of peers (Event.YieldOften). yieldMax is how often it does so after
	// another thread has waited: that is a millisecond or two. Threads of one program tend to call at the same time. If the poller
	// kept them from running, they would call one after the other when its time slices end, and
	// each would wait for a round trip of its own instead of all for one.
	yieldEvery = 4
	yieldMax   = 1024
)

func (l *threadQueue) init(policy Policy, rec *shmfmt.ProcessRecord) {
	l.rec = rec
	if policy.Threads {
		l.ps = runtime.GOMAXPROCS(0)
	}
}

// lock takes the engine's lock, which another thread holds.
func (l *threadQueue) lock() {
	for range lockYields {
		sys.Yield()
		if l.rec.Mutex.TryLock() {
			return
		}
	}
	l.rec.Asleep.Add(1)
	for {
		seen := l.rec.Freed.Load()
		if l.rec.Mutex.TryLock() {
			break
		}
		sys.FutexWaitPrivate(&l.rec.Freed, seen)
	}
	l.rec.Asleep.Add(-1)
}

// wakeLocker wakes one thread that sleeps for the lock, which has just been freed.
func (l *threadQueue) wakeLocker() {
	if l.rec.Asleep.Load() != 0 {
		l.rec.Freed.Add(1)
		sys.FutexWakePrivate(&l.rec.Freed, 1)
	}
}

// wake wakes the sleeper of k, or queues k so that a thread that is being woken wakes it. The
// lock is held.
func (l *threadQueue) wake(k *park) {
	k.woken.Store(1)
	if l.waking {
		k.pending = true
		l.pending = append(l.pending, k)
		return
	}
	l.waking = true
	sys.FutexWakePrivate(&k.woken, 1)
}

// sleep sleeps until wake(k), and wakes the next sleeper. The lock is held before and after.
func (l *threadQueue) sleep(p *Proc, k *park) {
	more := l.growPs(len(p.parked))
	if p.polling() || len(p.parked) > 1 {
		l.yieldsLeft = yieldMax
	}
	p.Unlock()
	if more > 0 {
		l.raisePs(more)
	}
	for k.woken.Load() == 0 {
		sys.FutexWaitPrivate(&k.woken, 0)
		if p.policy.leaving() {
			break
		}
	}
	p.Lock()
	if k.woken.Load() == 0 {
		k.unpark() // by itself: it leaves, or sleeps again
	}
	k.woken.Store(0)
	if k.pending { // it saw woken before its turn came
		k.pending = false
		i := slices.Index(l.pending, k)
		l.pending = slices.Delete(l.pending, i, i+1)
		return
	}
	l.waking = len(l.pending) > 0
	if l.waking {
		o := l.pending[0]
		o.pending, l.pending = false, slices.Delete(l.pending, 0, 1)
		sys.FutexWakePrivate(&o.woken, 1)
	}
}

// growPs returns the number of Ps that so many sleepers need, 0 if there are enough.
func (l *threadQueue) growPs(sleepers int) int {
	if sleepers < 2 || psPerThread*sleepers <= l.ps || l.ps >= psMax {
		return 0
	}
	l.ps = min(2*psPerThread*sleepers, psMax)
	return l.ps
}

// AddP makes one P more, for a service that has begun. It may be called with the lock held.
func (p *Proc) AddP() {
	p.threads.raising.Lock()
	defer p.threads.raising.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
}

// raisePs makes the number of Ps at least n. Threads that begin to sleep at the same time raise
// it to different numbers, in any order: the largest stays.
func (l *threadQueue) raisePs(n int) {
	l.raising.Lock()
	defer l.raising.Unlock()
	if n > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(n)
	}
}
