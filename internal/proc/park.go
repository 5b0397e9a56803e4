package proc

import "sync/atomic"

// park is where a goroutine sleeps. All but the sleep itself happens with the lock held.
type park struct {
	p    *Proc
	wake chan struct{} // capacity 1: a wake-up is never lost and never blocks

	// For threads, in place of the channel: woken is not 0 after unpark; pending says that
	// the park is in threadQueue.pending until its turn comes.
	woken   atomic.Uint32 // pairs with itself: the sleeper looks without the lock
	pending bool
}

func (p *Proc) newPark() *park {
	if n := len(p.freeParks); n > 0 {
		k := p.freeParks[n-1]
		p.freeParks = p.freeParks[:n-1]
		return k
	}
	return &park{p: p, wake: make(chan struct{}, 1)}
}

// unpark wakes the goroutine that sleeps, or is about to.
func (k *park) unpark() {
	if k.p.policy.Threads {
		if k.woken.Load() == 0 {
			k.p.woken++
			k.p.threads.wake(k)
		}
		return
	}
	select {
	case k.wake <- struct{}{}:
		k.p.woken++
	default:
	}
}

// sleep returns after unpark. The lock is free meanwhile.
func (k *park) sleep() {
	p := k.p
	if p.policy.Threads {
		p.threads.sleep(p, k)
	} else {
		p.settle()
		p.rec.Mutex.Unlock()
		<-k.wake
		p.Lock()
	}
	p.woken--
}

// freePark discards a second wake-up, if there was one, and keeps k for reuse.
func (p *Proc) freePark(k *park) {
	if !p.policy.Threads { // else sleep took both
		select {
		case <-k.wake:
			p.woken--
		default:
		}
	}
	p.freeParks = append(p.freeParks, k)
}
