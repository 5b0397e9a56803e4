package dtype

import (
	"math"
	"sort"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
)

// A view of a file is a Buffer at address 0 of as many elements of the file type as fit into 64
// bits: its offsets are offsets in the file. Runs maps positions of the packed form to offsets, and
// Position maps back. Both take a division or a binary search for each level of the type.

// Tile returns the Buffer of elements of t at address 0, as many as fit into 64 bits, or of one if
// offsets would descend from each to the next. t has data.
func Tile(t *Type) (b Buffer, err error) {
	if t == nil {
		return b, class.Errorf(class.Type, "type is MPI_DATATYPE_NULL")
	}
	count := t.most
	if !t.Tiles() {
		count = 1
	}
	err = b.At(nil, t, count)
	return b, err
}

// Tiles reports whether offsets ascend from each element of t to the next. Markers of bounds may make the
// extent of a type shorter than its data: such a type describes one element of a view only.
func (t *Type) Tiles() bool {
	p := t.program()
	return t.lay.extent() > 0 && p.last(0) <= t.lay.extent()+p.first(0)
}

// Dense reports whether the elements are one run of bytes, and returns its offset.
func (b *Buffer) Dense() (off int64, ok bool) { return b.lowest(), b.dense }

// Position returns the position in the packed form of the first byte whose offset is off or
// greater, the size of b if there is none. The offsets must ascend: see Ascends.
func (b *Buffer) Position(off int64) int64 {
	if b.size == 0 {
		return 0
	}
	if b.dense {
		return min(max(off-b.lowest(), 0), b.size)
	}
	sub, stride, n, origin := b.repetitions()
	return repetitionsBelow(sub, stride, nil, n, relative(off, origin))
}

// relative is off relative to an offset that may be negative: the largest number if that is beyond 64 bits.
func relative(off, to int64) int64 {
	if to < 0 && off > math.MaxInt64+to {
		return math.MaxInt64
	}
	return off - to
}

// below returns how many bytes of the packed form of n precede the first one whose offset is off
// or greater. off is relative to the enclosing node.
func (n *node) below(off int64) int64 {
	off = relative(off, n.off)
	switch n.kind {
	case run:
		return min(max(off, 0), n.size)
	case loop, list:
		return repetitionsBelow(n.sub, n.stride, n.offs, n.n, off)
	case pieces:
		i := sort.Search(len(n.offs), func(i int) bool { return n.offs[i]+n.cum[i+1]-n.cum[i] > off })
		if i == len(n.offs) {
			return n.size
		}
		if planted.PositionByOne && off < n.offs[i] && i > 0 {
			i--
		}
		return n.cum[i] + max(0, off-n.offs[i])
	case seq:
		i := sort.Search(len(n.subs), func(i int) bool { return n.subs[i].off+n.subs[i].hi > off })
		if i == len(n.subs) {
			return n.size
		}
		return n.cum[i] + n.subs[i].below(off)
	}
	return 0
}

// repetitionsBelow is below for n repetitions of sub. All repetitions before the first one that
// reaches beyond off lie below off.
func repetitionsBelow(sub *node, stride int64, offs []int64, n, off int64) int64 {
	end := sub.off + sub.hi // of the first repetition
	var i int64
	switch {
	case offs != nil:
		i = int64(sort.Search(len(offs), func(i int) bool { return offs[i]+end > off }))
	case end > off:
	case stride <= 0:
		return n * sub.size
	default:
		i = relative(off, end)/stride + 1
	}
	if i >= n {
		return n * sub.size
	}
	return i*sub.size + sub.below(relative(off, offset(stride, offs, i)))
}

// Grain is a number that a power of two divides if it divides the ends of all runs. Its lower bits are those
// of all sizes and offsets.
func (b *Buffer) Grain() int64 {
	if b.size == 0 {
		return 0
	}
	if b.dense {
		return b.lowest()
	}
	sub, stride, _, off := b.repetitions()
	return stride | off | sub.grain()
}

func (n *node) grain() int64 {
	bits := n.off | n.size
	switch n.kind {
	case loop:
		bits |= n.stride | n.sub.grain()
	case list:
		bits |= n.sub.grain()
	case seq:
		for _, s := range n.subs {
			bits |= s.grain()
		}
	}
	for _, off := range n.offs {
		bits |= off
	}
	for _, at := range n.cum {
		bits |= at
	}
	return bits
}

// Ascends checks that t can be the file type of a view: it has data, and the offsets of an element are not
// negative and do not descend.
func (t *Type) Ascends() error {
	p := t.program()
	switch {
	case p.size == 0:
		return class.Errorf(class.Arg, "type %s has no data", t)
	case t.lay.trueLB < 0:
		return class.Errorf(class.Arg, "type %s begins at displacement %d, which is negative", t, t.lay.trueLB)
	}
	if at, after, ok := p.descent(0); !ok {
		return class.Errorf(class.Arg, "displacements of type %s descend: %d comes after %d", t, after, at)
	}
	return nil
}

// first is the offset of the first run of n, which has data; last is that of the last run.
func (n *node) first(off int64) int64 {
	off += n.off
	switch n.kind {
	case loop:
		return n.sub.first(off)
	case list:
		return n.sub.first(off + n.offs[0])
	case pieces:
		return off + n.offs[0]
	case seq:
		return n.subs[0].first(off)
	}
	return off
}

func (n *node) last(off int64) int64 {
	off += n.off
	switch n.kind {
	case loop:
		return n.sub.last(off + (n.n-1)*n.stride)
	case list:
		return n.sub.last(off + n.offs[len(n.offs)-1])
	case pieces:
		return off + n.offs[len(n.offs)-1]
	case seq:
		return n.subs[len(n.subs)-1].last(off)
	}
	return off
}

// descent returns the offsets of two neighbouring runs of which the second is lower; ok is true if
// there are none.
func (n *node) descent(off int64) (at, after int64, ok bool) {
	off += n.off
	switch n.kind {
	case loop:
		if at, after := n.sub.last(off), n.sub.first(off+n.stride); n.n > 1 && after < at {
			return at, after, false
		}
		return n.sub.descent(off)
	case list:
		for i := 1; i < len(n.offs); i++ {
			if at, after := n.sub.last(off+n.offs[i-1]), n.sub.first(off+n.offs[i]); after < at {
				return at, after, false
			}
		}
		return n.sub.descent(off + n.offs[0])
	case pieces:
		for i := 1; i < len(n.offs); i++ {
			if n.offs[i] < n.offs[i-1] {
				return off + n.offs[i-1], off + n.offs[i], false
			}
		}
	case seq:
		for i, s := range n.subs {
			if i > 0 {
				if at, after := n.subs[i-1].last(off), s.first(off); after < at {
					return at, after, false
				}
			}
			if at, after, ok := s.descent(off); !ok {
				return at, after, false
			}
		}
	}
	return 0, 0, true
}
