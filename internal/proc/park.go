package proc

import "sync/atomic"

// park is where a goroutine sleeps. All but the sleep itself happens with the lock held.
type park struct {
	p    *Proc
	wake chan struct{} // capacity 1: a wake-up is never lost and never blocks

	// Of threads, in place of the channel: called is not 0 from unpark on, due says that it
	// stands in line.due until its turn comes.
	called atomic.Uint32 // pairs with itself: the sleeper looks without the lock
	due    bool
}

func (p *Proc) newPark() *park {
	if n := len(p.freeParks); n > 0 {
		k := p.freeParks[n-1]
		p.freeParks = p.freeParks[:n-1]
		return k
	}
	return &park{p: p, wake: make(chan struct{}, 1)}
}

// unpark wakes who sleeps, or is about to.
func (k *park) unpark() {
	if k.p.policy.Threads {
		if k.called.Load() == 0 {
			k.p.woken++
			k.p.line.call(k)
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
		p.line.sleep(p, k)
	} else {
		p.mu.Unlock()
		<-k.wake
		p.Lock()
	}
	p.woken--
}

// freePark drains a second wake-up that may have come and keeps k for reuse.
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
