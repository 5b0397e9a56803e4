package shm

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// glanceEvery is how many looks into one ring go with one at who else wants to
// look.
const glanceEvery = 16

// brisk is how many looks of a Glance are an atomic operation apart, some 10 ns:
// about as long as a peer takes that shares a cache and is waiting. What comes later
// than that need not be seen as soon, and a Pause leaves more to a second thread of
// the core.
const brisk = 32

// Glance looks up to n times for the next frame of one peer, as long as nobody
// wants what want counts, and returns it in place without taking it: Took does,
// or else the next Poll delivers it. It sees what Poll would deliver next of that
// peer, so a caller who knows what it expects saves the way through the sink.
func (f *Fabric) Glance(peer, n int, want *atomic.Int32) (*wire.Header, []byte) {
	for i := range f.in {
		c := &f.in[i]
		if c.job != peer {
			continue
		}
		for k := range n {
			if !c.ring.Empty() {
				payload, ok, err := c.ring.Next(&f.hdr)
				if !ok || err != nil {
					return nil, nil // Poll sees to it
				}
				f.glanced = i
				return &f.hdr, payload
			}
			if k%glanceEvery == 0 && want.Load() != 0 { // pairs with the Add in Proc.Lock
				break
			}
			if k < brisk {
				f.pace.Add(1)
			} else {
				shmfmt.Pause()
			}
		}
		break
	}
	return nil, nil
}

// Took takes the frame that Glance has just returned.
func (f *Fabric) Took() {
	if c := &f.in[f.glanced]; c.ring.Done() {
		f.offerRoom(c)
	}
}
