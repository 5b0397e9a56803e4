package bind

import (
	"sync"
	"sync/atomic"
)

// A handle of C is a word: a predefined one is the standard's constant, below firstHandle,
// and any other names a slot of the table of its kind.
//
//	bits 0..3    the kind, which the constant of no predefined handle has
//	bits 4..30   the number of the slot, from 1<<8 on
//	bits 31..62  the generation of the slot: how often it was used before
//
// So a handle that was freed, or is of another kind, is found out. The lower 31 bits are
// what MPI_Comm_toint and its like return.
//
// Datatypes have generations in the checking mode only: else the next one made has the handle
// of the one freed last, as with other implementations. There are programs that go on with a
// handle they have freed when they have made a like datatype since.
type handle = uintptr

const (
	kindBits   = 4
	slotBits   = 27
	firstSlot  = 1 << 8
	intBits    = kindBits + slotBits
	chunkBits  = 10
	chunkSlots = 1 << chunkBits
	maxSlots   = 1<<slotBits - firstSlot
)

// kind is a kind of handles.
type kind uintptr

const (
	kindComm kind = iota + 1
	kindGroup
	kindType
	kindOp
	kindRequest
	kindMessage
	kindWin
	kindInfo
	kindErrhandler
	kindSession
	kindFile
	kindSync
)

// table is the objects of one kind that C has handles of. Looking one up takes no lock: slots
// stay where they are. Nor does making and ending one, which every request costs, unless
// somebody hears of it or there is no slot to be used again.
type table[T any] struct {
	kind   kind
	again  bool // slots keep their generation: the next object has the handle of the last
	chunks atomic.Pointer[[]*[chunkSlots]slot[T]]

	// free is the stack of slots to be used again: 1 + the number of the uppermost in the
	// lower half, and above it how often one was laid down, so that who takes one notices
	// that the stack has been another meanwhile, even if the uppermost is the same again.
	free atomic.Uint64

	mu   sync.Mutex
	used uint32 // slots that ever were

	// opened and closed hear of handles, under mu, behind their beginning and before their
	// end; nil: nobody does.
	opened func(handle, T)
	closed func(handle, T)

	made *makers // notes who makes handles; nil: nobody asks
}

// slot is one object. The lower liveBits of state are 1 + its generation while there is one,
// else 0; the others are, of a free slot, the lower half of what free was before it.
type slot[T any] struct {
	state atomic.Uint64 // pairs with itself: stored behind value, and before it goes
	next  uint32        // generation of the next object
	value T
}

const liveBits = 33

// live is the state of a slot whose object has the generation of a handle.
func live(h handle) uint64 { return 1 + uint64(h>>intBits) }

// add makes a handle of an object. There is none left, which takes 134 million objects of one
// kind, if it is 0.
func (t *table[T]) add(value T) handle {
	number, s := t.take()
	if s == nil {
		return 0
	}
	s.value = value
	h := handle(s.next)<<intBits | handle(number+firstSlot)<<kindBits | handle(t.kind)
	s.state.Store(live(h))
	if t.made != nil {
		t.made.note(h)
	}
	if t.opened != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.opened(h, value)
	}
	return h
}

// hold calls f with the object of a handle, which does not end meanwhile, if there is one.
func (t *table[T]) hold(h handle, f func(T)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.at(h); s != nil {
		f(s.value)
	}
}

// take is a slot that is not used, nil if there is none.
func (t *table[T]) take() (number uint32, s *slot[T]) {
	for top := t.free.Load(); uint32(top) != 0; top = t.free.Load() {
		number = uint32(top) - 1
		s = t.slot(number)
		if t.free.CompareAndSwap(top, top>>32<<32|s.state.Load()>>liveBits) {
			return number, s
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used == maxSlots {
		return 0, nil
	}
	if t.used%chunkSlots == 0 {
		t.grow()
	}
	t.used++
	return t.used - 1, t.slot(t.used - 1)
}

func (t *table[T]) grow() {
	var chunks []*[chunkSlots]slot[T]
	if old := t.chunks.Load(); old != nil {
		chunks = append(chunks, *old...)
	}
	chunks = append(chunks, new([chunkSlots]slot[T]))
	t.chunks.Store(&chunks)
}

func (t *table[T]) slot(number uint32) *slot[T] {
	chunks := t.chunks.Load()
	if chunks == nil || int(number>>chunkBits) >= len(*chunks) {
		return nil
	}
	return &(*chunks)[number>>chunkBits][number%chunkSlots]
}

// at is the slot of a handle, nil if that is not one of a live object of this kind.
func (t *table[T]) at(h handle) *slot[T] {
	number := h >> kindBits & (1<<slotBits - 1)
	if kind(h&(1<<kindBits-1)) != t.kind || number < firstSlot {
		return nil
	}
	s := t.slot(uint32(number - firstSlot))
	if s == nil || s.state.Load() != live(h) {
		return nil
	}
	return s
}

// get is the object of a handle.
func (t *table[T]) get(h handle) (value T, ok bool) {
	if s := t.at(h); s != nil {
		return s.value, true
	}
	return value, false
}

// remove ends a handle, and reports whether it was one.
func (t *table[T]) remove(h handle) bool {
	if t.closed != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if s := t.at(h); s != nil {
			t.closed(h, s.value)
		}
	}
	s, top := t.at(h), t.free.Load()
	if s == nil || !s.state.CompareAndSwap(live(h), uint64(uint32(top))<<liveBits) {
		return false
	}
	if t.made != nil {
		t.made.forget(h)
	}
	var none T
	s.value = none
	if !t.again {
		s.next++ // 2^32 uses of one slot, and a stale handle could be taken for a new one
	}
	above := uint64(h>>kindBits&(1<<slotBits-1)) - firstSlot + 1
	for !t.free.CompareAndSwap(top, (top>>32+1)<<32|above) {
		top = t.free.Load()
		s.state.Store(uint64(uint32(top)) << liveBits)
	}
	return true
}

// toInt is the number that stands for a handle in Fortran, fromInt the reverse: of a number
// that stands for none, what no table knows.
func (t *table[T]) toInt(h handle) int32 { return int32(h & (1<<intBits - 1)) }

func (t *table[T]) fromInt(n int32) handle {
	h := handle(uint32(n))
	if number := h >> kindBits; number >= firstSlot && kind(h&(1<<kindBits-1)) == t.kind {
		if s := t.slot(uint32(number - firstSlot)); s != nil {
			if live := s.state.Load() & (1<<liveBits - 1); live != 0 {
				return handle(live-1)<<intBits | h
			}
		}
	}
	return h
}

// count is how many handles there are.
func (t *table[T]) count() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.used {
		if t.slot(i).state.Load()&(1<<liveBits-1) != 0 {
			n++
		}
	}
	return n
}

// named is a table whose objects lead back to their handles, for callbacks.
type named[T comparable] struct {
	table[T]
	handles sync.Map // T to handle
}

// put is the handle of an object, a new one if it has none.
func (t *named[T]) put(value T) handle {
	if h, ok := t.handles.Load(value); ok {
		return h.(handle)
	}
	h := t.add(value)
	t.handles.Store(value, h)
	return h
}

// drop is remove, and forgets the way back.
func (t *named[T]) drop(h handle) bool {
	if value, ok := t.get(h); ok {
		t.handles.CompareAndDelete(value, h)
	}
	return t.remove(h)
}
