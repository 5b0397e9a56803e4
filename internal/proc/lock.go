package proc

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Lock takes the engine's lock. A poller yields it.
func (p *Proc) Lock() {
	if !p.rec.Mutex.TryLock() {
		p.lockSlow()
	}
	p.importQueues()
}

// OnImport sets the function that imports the queues of C: posted receives, and unexpected messages. It is
// called with the lock held, before anything else is done under the lock.
func (p *Proc) OnImport(f func()) { p.onImport = f }

// importQueues imports what C has put into its queues since the lock was last held in Go.
func (p *Proc) importQueues() {
	if p.rec.Slow&shmfmt.SlowImport != 0 && !planted.ImportForgotten {
		p.rec.Slow &^= shmfmt.SlowImport
		p.onImport()
	}
}

func (p *Proc) lockSlow() {
	p.rec.Want.Add(1)
	if p.policy.Threads {
		p.threads.lock()
	} else {
		p.rec.Mutex.Lock()
	}
	p.rec.Want.Add(-1)
}

// Unlock releases the engine's lock, and wakes the peer that frames were posted to.
func (p *Proc) Unlock() {
	if rings := p.rings; rings == nil {
		p.rec.Mutex.Unlock()
	} else if o := rings.TakePosted(); o == nil || planted.PostedAsleep {
		p.rec.Mutex.Unlock()
	} else {
		p.rec.Mutex.Unlock() // full fence, as RingArmed needs
		rings.RingArmed(o)
	}
	if p.policy.Threads {
		p.threads.wakeLocker()
	}
}

// yieldLock lets other goroutines take the lock, and takes it again.
func (p *Proc) yieldLock() {
	if p.policy.Threads {
		p.Unlock()
		p.policy.Yield()
		p.Lock()
		return
	}
	p.settle()
	p.rec.Mutex.Unlock()
	runtime.Gosched()
	p.rec.Mutex.Lock()
}

// settle wakes the peer that frames were posted to, before the lock is given up other than by Unlock.
func (p *Proc) settle() {
	if p.rings != nil {
		p.rings.Settle()
	}
}
