package memhandle

import (
	cryptorand "crypto/rand"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Table is the memory of this process that handles of a window name. The zero Table is empty.
type Table struct {
	// live has an entry for each 4 GiB of the handle space that a handle uses; no two handles use
	// the same one.
	live   map[uint32]*Memory
	random *rand.ChaCha8
}

// Memory is memory that a handle names.
type Memory struct {
	Key    uint64
	Slot   int                // in the table that processes of the node read; -1: none
	Shown  *shmfmt.HandleSlot // the slot
	Region apply.Region
}

// Start prepares the table for its first handle. It has no effect on a table that is in use. The error
// is that of the random source of the system.
func (t *Table) Start() error {
	if t.random != nil {
		return nil
	}
	var seed [32]byte
	if _, err := cryptorand.Read(seed[:]); err != nil {
		return err
	}
	t.random = rand.NewChaCha8(seed)
	t.live = make(map[uint32]*Memory)
	return nil
}

// Enter draws a random key for r and adds r to the table.
func (t *Table) Enter(r *Memory) {
	n := len(r.Region.Mem)
	for {
		key := Space | t.random.Uint64()>>2
		if eachPage(key, n, func(page uint32) bool { return t.live[page] == nil }) {
			eachPage(key, n, func(page uint32) bool { t.live[page] = r; return true })
			r.Key = key
			return
		}
	}
}

// Get returns the memory with a key, nil if there is none.
func (t *Table) Get(key uint64) *Memory {
	if r := t.live[uint32(key>>32)]; r != nil && r.Key == key {
		return r
	}
	return nil
}

// Remove removes r.
func (t *Table) Remove(r *Memory) {
	eachPage(r.Key, len(r.Region.Mem), func(page uint32) bool { delete(t.live, page); return true })
}

// Find returns the memory that contains n bytes from an address of the handle space on, nil if
// there is none.
func (t *Table) Find(addr, n uint64) *Memory {
	r := t.live[uint32(addr>>32)]
	if r == nil {
		return nil
	}
	size, at := uint64(len(r.Region.Mem)), addr-r.Key // wraps to a very large number below the key
	if at > size || n > size-at {
		return nil
	}
	return r
}

// eachPage calls fn for each 4 GiB of the handle space that n bytes from key on use. If fn returns
// false, eachPage stops and returns false.
func eachPage(key uint64, n int, fn func(page uint32) bool) bool {
	for page := key >> 32; page <= (key+uint64(max(n, 1))-1)>>32; page++ {
		if !fn(uint32(page)) {
			return false
		}
	}
	return true
}
