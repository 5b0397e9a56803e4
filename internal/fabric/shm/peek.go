package shm

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// wantEvery is after how many loads of a ring Peek checks whether another goroutine wants
// the lock.
const wantEvery = 16

// spinPeeks is how many loads of a Peek have an atomic operation between them, some 10 ns.
// They cover the time that a peer takes which shares a cache and is waiting. For later
// frames the latency matters less, and Pause leaves more of the core to a second hardware
// thread.
const spinPeeks = 32

// Peek polls up to n times for the next frame of one peer, as long as want is 0. It returns
// the frame in place without consuming it: Consume does, otherwise the next Poll delivers it.
// It is the frame that Poll would deliver next from that peer, so a caller that knows which
// frame it expects avoids the sink.
func (f *Fabric) Peek(peer, n int, want *atomic.Int32) (*wire.Header, []byte) {
	for i := range f.in {
		c := &f.in[i]
		if c.job != peer {
			continue
		}
		for k := range n {
			if !c.ring.Empty() {
				payload, ok, err := c.ring.Next(&f.hdr)
				if !ok || err != nil {
					return nil, nil // Poll handles it
				}
				f.peeked = i
				return &f.hdr, payload
			}
			if k%wantEvery == 0 && want.Load() != 0 { // pairs with the Add in Proc.Lock
				break
			}
			if k < spinPeeks {
				f.spin.Add(1)
			} else {
				shmfmt.Pause()
			}
		}
		break
	}
	return nil, nil
}

// Consume consumes the frame that Peek has just returned.
func (f *Fabric) Consume() {
	if c := &f.in[f.peeked]; c.ring.Done() {
		f.ringUnarmed(c)
	}
}
