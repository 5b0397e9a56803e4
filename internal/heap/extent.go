package heap

import "math/bits"

// An extent is a part of the heap: a live block, or the free range between two live blocks.
type extent struct {
	off, size int64
	free      bool
	busy      bool   // a live block whose memory is being committed or freed
	mem       []byte // of a live block
	mapping   []byte // contains mem, if the block is not of the Go heap
	recycled  bool   // mapping is memory of package offheap; otherwise it is a mapping of this block alone
	home      int64  // of a range of addresses: the offset in the heap of the block at these addresses

	rank        uint64 // of the node: no child has a greater one
	left, right *extent
	room        int64 // size of the largest free extent of the subtree
}

func (e *extent) end() int64 { return e.off + e.size }

// extents are extents by offset, in a treap. Its ranks are hashes of the offsets, so its depth is
// logarithmic after any history, and it needs no random numbers. Each node has the size of the largest
// free extent below it, so one descent finds the first or last free extent that is large enough.
type extents struct{ root *extent }

func (e *extent) update() {
	e.room = 0
	if e.free {
		e.room = e.size
	}
	if e.left != nil {
		e.room = max(e.room, e.left.room)
	}
	if e.right != nil {
		e.room = max(e.room, e.right.room)
	}
}

// rankOf hashes an offset (splitmix64).
func rankOf(off int64) uint64 {
	z := uint64(off) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return bits.RotateLeft64(z^z>>31, 17)
}

// each calls f for the extents below e and for itself, in order.
func (e *extent) each(f func(*extent)) {
	if e != nil {
		e.left.each(f)
		f(e)
		e.right.each(f)
	}
}

// insert adds an extent. No other one begins at its offset.
func (t *extents) insert(e *extent) {
	e.rank = rankOf(e.off)
	t.root = t.root.insert(e)
}

func (n *extent) insert(e *extent) *extent {
	switch {
	case n == nil:
		e.left, e.right = nil, nil
		e.update()
		return e
	case e.rank > n.rank:
		e.left, e.right = n.split(e.off)
		e.update()
		return e
	case e.off < n.off:
		n.left = n.left.insert(e)
	default:
		n.right = n.right.insert(e)
	}
	n.update()
	return n
}

// split divides a tree into the extents that begin before off, and the others.
func (n *extent) split(off int64) (below, above *extent) {
	if n == nil {
		return nil, nil
	}
	if n.off < off {
		n.right, above = n.right.split(off)
		n.update()
		return n, above
	}
	below, n.left = n.left.split(off)
	n.update()
	return below, n
}

// remove removes the extent that begins at off.
func (t *extents) remove(off int64) { t.root = t.root.remove(off) }

func (n *extent) remove(off int64) *extent {
	switch {
	case n == nil:
		return nil
	case off == n.off:
		return join(n.left, n.right)
	case off < n.off:
		n.left = n.left.remove(off)
	default:
		n.right = n.right.remove(off)
	}
	n.update()
	return n
}

// join makes one tree of two. All extents of a are before all of b.
func join(a, b *extent) *extent {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank > b.rank:
		a.right = join(a.right, b)
		a.update()
		return a
	}
	b.left = join(a, b.left)
	b.update()
	return b
}

// refresh updates room in the nodes above the extent at off, which has changed.
func (t *extents) refresh(off int64) { t.root.refresh(off) }

func (n *extent) refresh(off int64) {
	switch {
	case n == nil:
		return
	case off < n.off:
		n.left.refresh(off)
	case off > n.off:
		n.right.refresh(off)
	}
	n.update()
}

// at returns the last extent that begins at or before off, nil if there is none.
func (t *extents) at(off int64) *extent {
	var found *extent
	for n := t.root; n != nil; {
		if n.off <= off {
			found, n = n, n.right
		} else {
			n = n.left
		}
	}
	return found
}

// first returns the first free extent of size bytes or more, nil if there is none.
func (t *extents) first(size int64) *extent {
	n := t.root
	if n == nil || n.room < size {
		return nil
	}
	for {
		switch {
		case n.left != nil && n.left.room >= size:
			n = n.left
		case n.free && n.size >= size:
			return n
		default:
			n = n.right
		}
	}
}

// last returns the last free extent of size bytes or more, nil if there is none.
func (t *extents) last(size int64) *extent {
	n := t.root
	if n == nil || n.room < size {
		return nil
	}
	for {
		switch {
		case n.right != nil && n.right.room >= size:
			n = n.right
		case n.free && n.size >= size:
			return n
		default:
			n = n.left
		}
	}
}
