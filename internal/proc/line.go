package proc

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/sys"
)

// line is how threads wait for each other in one process.
//
// A goroutine that is locked to its thread, as all are that come from C, is dear to the Go
// scheduler: when it parks its thread has to find another one to hand its P to, and when it
// goes on that one has to hand it back, which is two switches between threads for each; also
// Gosched is. So threads sleep in the kernel, wake each other there, and yield their cores
// rather than their Ps. With 32 threads that put and flush over TCP that halves the time.
//
// A thread that wakes up needs a P to go on, too. Sleeping in the kernel it keeps its own as
// long as there are others for who needs one; so there are more Ps than threads that sleep at
// a time (room).
//
// Those whose event has happened are called one by one: each tells the next when it has the
// lock. Called all at once they fall over each other at the lock, and each that does sleeps
// once more. Nobody has to wait for what the program does between its calls: the next is told
// before the call of the one before returns.
type line struct {
	// Who wants the lock sleeps until freed changes; asleep is how many do. They pair with
	// each other: a sleeper adds to asleep and then tries the lock, who frees that looks at
	// asleep behind it.
	freed  atomic.Uint32
	asleep atomic.Int32

	calling bool    // somebody has been woken and has not the lock yet
	due     []*park // those to be woken then
	room    int     // Ps
	crowd   int     // how often the poller yields yet for those who may be on their way
}

const (
	// lockYields is how often a thread yields its core before it sleeps for the lock, which
	// is held for a microsecond by all but who polls, and that one gives way.
	lockYields = 2
	// roomMax bounds the number of Ps: with very many the scheduler looks long for work.
	roomMax = 128
	// roomEach is how many Ps there are at least for each thread that sleeps: those that are
	// out in the program keep theirs for a while, and not all sleep at once.
	roomEach = 4
	// crowdEvery is after how many polls that find nothing the poller yields its core while
	// there is a crowd, and crowdYields how often it does since somebody else waited: for a
	// millisecond or two of waiting. Threads of one program tend to come together. Those that
	// the poller keeps from running come one after the other when its time slices end, and
	// each then has a round trip for itself instead of all one.
	crowdEvery  = 4
	crowdYields = 1024
)

func (l *line) init(policy Policy) {
	if policy.Threads {
		l.room = runtime.GOMAXPROCS(0)
		l.crowd = crowdYields
	}
}

// expects reports whether the poller, having polled so often in vain, shall yield for threads
// that are not waiting yet. The lock is held.
func (l *line) expects(spins int) bool {
	if l.crowd == 0 || spins%crowdEvery != 0 {
		return false
	}
	l.crowd--
	return true
}

// lock takes mu, which somebody has.
func (l *line) lock(mu *sync.Mutex) {
	for range lockYields {
		sys.Yield()
		if mu.TryLock() {
			return
		}
	}
	l.asleep.Add(1)
	for {
		seen := l.freed.Load()
		if mu.TryLock() {
			break
		}
		sys.FutexSleep(&l.freed, seen)
	}
	l.asleep.Add(-1)
}

// next wakes one that sleeps for the lock, which has just been freed.
func (l *line) next() {
	if l.asleep.Load() != 0 {
		l.freed.Add(1)
		sys.FutexRouse(&l.freed, 1)
	}
}

// call wakes the sleeper of k, or has the one before it do so. The lock is held.
func (l *line) call(k *park) {
	k.called.Store(1)
	if l.calling {
		k.due = true
		l.due = append(l.due, k)
		return
	}
	l.calling = true
	sys.FutexRouse(&k.called, 1)
}

// sleep returns when k was called, and tells the next. The lock is held, but in between.
func (l *line) sleep(p *Proc, k *park) {
	more := l.crowded(len(p.parked))
	if p.polling || len(p.parked) > 1 {
		l.crowd = crowdYields
	}
	p.Unlock()
	if more > 0 {
		runtime.GOMAXPROCS(more)
	}
	for k.called.Load() == 0 {
		sys.FutexSleep(&k.called, 0)
	}
	p.Lock()
	k.called.Store(0)
	if k.due { // it saw the call before its turn came
		k.due = false
		i := slices.Index(l.due, k)
		l.due = slices.Delete(l.due, i, i+1)
		return
	}
	l.calling = len(l.due) > 0
	if l.calling {
		o := l.due[0]
		o.due, l.due = false, slices.Delete(l.due, 0, 1)
		sys.FutexRouse(&o.called, 1)
	}
}

// crowded is the number of Ps that so many sleepers make necessary, 0 if there are enough.
func (l *line) crowded(sleepers int) int {
	if sleepers < 2 || roomEach*sleepers <= l.room || l.room >= roomMax {
		return 0
	}
	l.room = min(2*roomEach*sleepers, roomMax)
	return l.room
}
