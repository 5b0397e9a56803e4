package shm

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// WantEvery is after how many loads of a ring Peek checks whether another goroutine wants
// the lock.
const WantEvery = 16

// SpinPeeks is how many loads of a Peek have an atomic operation between them, some 10 ns.
// They cover the time that a peer takes which shares a cache and is waiting. For later
// frames the latency matters less, and Pause leaves more of the core to a second hardware
// thread.
const SpinPeeks = 32

// Peek polls up to n times for the next frame of one peer, as long as want is 0. It returns
// the frame in place without consuming it: Consume does, otherwise the next Poll delivers it.
// It is the frame that Poll would deliver next from that peer, so a caller that knows which
// frame it expects avoids the sink.
func (f *Fabric) Peek(peer, n int, want *atomic.Int32) (*wire.Header, []byte) {
	place := f.local[peer]
	if place < 0 {
		return nil, nil
	}
	var c *shmfmt.Consumer
	if int(place) < len(f.records) {
		c = &f.records[place].In
	} else {
		c = &f.out[place].In
	}
	if !c.Exists() {
		return nil, nil // the peer has sent nothing yet
	}
	for k := range n {
		if !c.Empty() {
			payload, ok, err := c.Next(&f.hdr)
			if !ok || err != nil {
				return nil, nil // Poll handles it
			}
			f.peeked = int(place)
			return &f.hdr, payload
		}
		if k%WantEvery == 0 && want.Load() != 0 { // pairs with the Add in Proc.Lock
			break
		}
		if k < SpinPeeks {
			f.spin.Add(1)
		} else {
			shmfmt.Pause()
		}
	}
	return nil, nil
}

// Consume consumes the frame that Peek has just returned.
func (f *Fabric) Consume() {
	if f.peeked >= len(f.records) {
		if o := f.out[f.peeked]; o.In.Done() {
			f.ringUnarmed(-1, o.foreign)
		}
	} else if f.records[f.peeked].In.Done() {
		f.ringUnarmed(f.peeked, nil)
	}
}
