package bind

import (
	"sync"
	"sync/atomic"
)

// A handle of C is a word. A predefined handle is a constant of the standard below
// firstSlot<<kindBits; any other handle refers to a slot of the table of its kind.
//
//	bits 0..3    the kind
//	bits 4..30   the number of the slot plus firstSlot
//	bits 31..62  the generation of the slot: how often it was used before
//
// Therefore the tables detect a handle that was freed or is of another kind. MPI_Comm_toint
// and the like return the lower 31 bits.
//
// Datatypes have generations in checking mode only. Otherwise the next datatype has the handle
// of the one freed last, as with other implementations: some programs go on using a handle
// that they have freed after they have made an equal datatype.
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
	_
	kindSent     // a request of a send that C has completed; it is in no table
	kindReceived // a request of a receive that C has posted; it is in no table
)

// table is the handle table of one kind of objects. A lookup takes no lock, since slots do not
// move. Adding and removing a handle, which every request does, take no lock either, unless
// opened or closed is set or there is no free slot.
type table[T any] struct {
	kind   kind
	again  bool // slots keep their generation: the next object gets the handle of the last one
	chunks atomic.Pointer[[]*[chunkSlots]slot[T]]

	// free is the stack of free slots. Its lower half is 1 + the number of the top slot, or 0.
	// Its upper half counts the pushes, so that the compare-and-swap of a pop fails if the
	// stack has changed meanwhile, even if the same slot is on top again (the ABA problem).
	free atomic.Uint64

	mu   sync.Mutex
	used uint32 // slots that have ever been used

	// opened is called under mu after a handle is made, and closed before it ends. Both may be
	// nil.
	opened func(handle, T)
	closed func(handle, T)

	made *makers // notes the calls that make handles; nil outside checking mode
}

// slot holds one object. The lower liveBits of state are 1 + the generation while the slot is
// in use, and otherwise 0. The upper bits of a free slot link to the next one on the stack:
// they are the lower half of free from before the push.
type slot[T any] struct {
	state atomic.Uint64 // pairs with itself: stored after value is set, and before it is cleared
	next  uint32        // generation of the next object
	value T
}

const liveBits = 33

// live returns the state of a slot in use with the generation of a handle.
func live(h handle) uint64 { return 1 + uint64(h>>intBits) }

// add makes a handle for an object. It returns 0 if all slots are in use, which takes 134
// million objects of one kind.
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

// hold calls f with the object of a handle, if there is one. The lock keeps the handle from
// ending during the call, if closed is set.
func (t *table[T]) hold(h handle, f func(T)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.at(h); s != nil {
		f(s.value)
	}
}

// take returns a free slot, or nil if there is none.
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

// at returns the slot of a handle, or nil if the handle is not one of a live object of this
// kind.
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

// get returns the object of a handle.
func (t *table[T]) get(h handle) (value T, ok bool) {
	if s := t.at(h); s != nil {
		return s.value, true
	}
	return value, false
}

// remove ends a handle, and reports whether it was valid.
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
		s.next++ // a stale handle becomes valid again only after 2^32 uses of its slot
	}
	above := uint64(h>>kindBits&(1<<slotBits-1)) - firstSlot + 1
	for !t.free.CompareAndSwap(top, (top>>32+1)<<32|above) {
		top = t.free.Load()
		s.state.Store(uint64(uint32(top)) << liveBits)
	}
	return true
}

// toInt returns the number that stands for a handle in Fortran, and fromInt the handle of such
// a number. For a number without handle, fromInt returns an invalid handle.
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

// count returns the number of handles.
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

// named is a table that also finds the handle of an object, for callbacks.
type named[T comparable] struct {
	table[T]
	handles sync.Map // T to handle
	lent    lending[T]
}

// put returns the handle of an object, and makes one if there is none.
func (t *named[T]) put(value T) handle {
	if h, ok := t.handles.Load(value); ok {
		return h.(handle)
	}
	h := t.add(value)
	t.handles.Store(value, h)
	return h
}

// drop is remove, and also forgets the handle of the object.
func (t *named[T]) drop(h handle) bool {
	if value, ok := t.get(h); ok && t.lent.keeps(value) {
		return true
	}
	return t.end(h)
}

// end is drop of a handle that is not lent.
func (t *named[T]) end(h handle) bool {
	if value, ok := t.get(h); ok {
		t.handles.CompareAndDelete(value, h)
	}
	return t.remove(h)
}
