package p2p

import "github.com/halo-mpi/halo/internal/planted"

// Names lets peers refer to something here, requests of this package and operations
// of others: an index and a generation, checked on use.
type Names[T any] struct {
	slots []nameSlot[T]
	free  []uint32
	live  int
}

type nameSlot[T any] struct {
	is  *T
	gen uint32
}

// Give returns a name of x, which is not 0.
func (n *Names[T]) Give(x *T) uint64 {
	var i uint32
	if k := len(n.free); k > 0 {
		i = n.free[k-1]
		n.free = n.free[:k-1]
	} else {
		i = uint32(len(n.slots))
		n.slots = append(n.slots, nameSlot[T]{})
	}
	s := &n.slots[i]
	if s.gen++; s.gen == 0 { // come round: 0 is no name
		s.gen = 1
	}
	s.is = x
	n.live++
	return uint64(s.gen)<<32 | uint64(i)
}

// Find returns what has that name, nil if the name is stale or was never given.
func (n *Names[T]) Find(name uint64) *T {
	i := uint32(name)
	if uint64(i) >= uint64(len(n.slots)) {
		return nil
	}
	if s := &n.slots[i]; s.gen == uint32(name>>32) || planted.NameStale {
		return s.is
	}
	return nil
}

// Drop takes a name back that has been given.
func (n *Names[T]) Drop(name uint64) {
	i := uint32(name)
	n.slots[i].is = nil
	n.free = append(n.free, i)
	n.live--
}

// give names r, if it has no name yet.
func (e *Engine) give(r *Request) uint64 {
	if r.name == 0 {
		r.name = e.names.Give(r)
	}
	return r.name
}

// drop takes the name of r back, if it has one.
func (e *Engine) drop(r *Request) {
	if r.name != 0 {
		e.names.Drop(r.name)
		r.name = 0
	}
}
