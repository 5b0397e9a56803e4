package shmfmt

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

const (
	// StripeCount is how many stripes there are: neighbours in memory have
	// different ones, so that two who update different parts rarely meet.
	StripeCount = 8
	// StripeShift is the logarithm of how many bytes in a row have one stripe. A
	// quarter of it made long updates slower by a fifteenth, twice no faster. A writer
	// is done with so many in less than a microsecond.
	StripeShift = 15
)

// Stripes exclude those who update memory by vectors, writers, from those who update
// single elements by atomic operations of the processor, readers: of these there may
// be many, also in one place, and of writers one. A stripe stands for every
// StripeCount-th piece of 1<<StripeShift bytes, and an element belongs to that of its
// first byte.
//
// A reader counts itself in, in a line of its own process, and looks at the stripe's
// writer word; a writer takes the word, and then looks at the counts of all
// processes. Each stores before it loads, so that at least one of the two sees the
// other. A reader that sees a writer steps back; a writer waits until the readers
// have left. So a reader costs two atomic operations on a line that only its own process
// writes, and one load of a line that rarely changes.
//
// A writer costs one atomic operation, since only one leaves. So a process that is the
// only one to come to a stripe does better as a writer, also for a single element; but
// of several that do the same, each would wait for the word's line, and for whoever has
// lost its core inside. Therefore the word names a process that may: the favour is taken
// after many times as a reader, and withdrawn by the next of another process.
// It is a hint: nothing depends on who has it.
//
// Nothing here waits: how, is up to the caller. Zeroed memory is stripes in which
// nobody is. The memory of a process that died in one tells which: Reap.
//
// Rejected: a lock for readers and writers in one word, on which all readers would
// meet, and which would not tell which of them died.
//
// Layout: StripeCount lines of a writer word each, then for each process one line of
// StripeCount counts.
type Stripes struct {
	mem unsafe.Pointer
	n   int
}

// StripesSize is the size in bytes of the stripes of n processes.
func StripesSize(n int) int64 { return (StripeCount + int64(n)) * Line }

// OpenStripes returns the stripes of n processes in mem, which begins at a line.
func OpenStripes(mem []byte, n int) *Stripes {
	return &Stripes{unsafe.Pointer(unsafe.SliceData(mem[:StripesSize(n)])), n}
}

// HeapStripes makes stripes of n processes on the Go heap.
func HeapStripes(n int) *Stripes { return OpenStripes(heapMemory(StripesSize(n)), n) }

// Stripe is that of the element which begins at a byte of the memory.
func Stripe(off int64) int { return int(off>>StripeShift) & (StripeCount - 1) }

// StripeBase is where memory that begins at an address begins in what is divided into
// stripes, if different parts of it, which overlap, are to have the same.
func StripeBase(addr uint64) int64 { return int64(addr & (StripeCount<<StripeShift - 1)) }

// StripeEnd is where the piece of memory ends that the byte at off is in.
func StripeEnd(off int64) int64 { return (off>>StripeShift + 1) << StripeShift }

// Local is the number of processes.
func (s *Stripes) Local() int { return s.n }

// favour is where in the writer word the favoured process begins, in bits.
const favour = 32

// writer holds 0, or 1 + the process that has the stripe as its writer; and above, 0 or
// 1 + the process that is favoured.
func (s *Stripes) writer(stripe int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(s.mem, stripe*Line))
}

// entered is what a reader adds to its count: in the lower half are those inside, in the
// upper half those that have been.
const entered = 1<<32 + 1

// readers counts those of a process.
func (s *Stripes) readers(stripe, process int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(s.mem, (StripeCount+process)*Line+stripe*8))
}

// Enter makes the caller, in local process me, a reader of the stripe, unless it finds
// a writer.
func (s *Stripes) Enter(stripe, me int) bool {
	if planted.ReaderSilent {
		return s.readers(stripe, me).Add(entered-1)>>32%favourEvery != 0 && s.writer(stripe).Load() == 0 || s.enterLate(stripe, me)
	}
	if planted.ReaderLooksFirst && s.writer(stripe).Load() == 0 {
		return s.readers(stripe, me).Add(entered)>>32%favourEvery != 0 || s.enterLate(stripe, me)
	}
	// The sum pairs with the loads in Occupant, the load with the swap in Claim and the
	// store in Release.
	return s.readers(stripe, me).Add(entered)>>32%favourEvery != 0 && s.writer(stripe).Load() == 0 || s.enterLate(stripe, me)
}

// enterLate is the rest of Enter, where there is a writer, or a favour to take or to
// withdraw.
func (s *Stripes) enterLate(stripe, me int) bool {
	w := s.writer(stripe).Load() // as in Enter
	switch {
	case uint32(w) != 0:
		s.Leave(stripe, me)
		return false
	case w == 0 && s.n <= favourMost:
		s.writer(stripe).CompareAndSwap(0, uint64(me+1)<<favour)
	case w>>favour != uint64(me)+1:
		s.writer(stripe).CompareAndSwap(w, 0)
	}
	return true
}

const (
	// favourEvery is after how many times as a reader a process takes the favour, if
	// nobody has it: a power of two, so often that who is alone is soon favoured, and so
	// rarely that the word's line does not go round between those who are not.
	favourEvery = 1024
	// favourMost is for how many processes the look at all counts is short enough.
	favourMost = 16
)

// Leave undoes Enter.
func (s *Stripes) Leave(stripe, me int) {
	if planted.ReaderSilent {
		return
	}
	s.readers(stripe, me).Add(^uint64(0)) // pairs with the load in Occupant: the writer sees what we did
}

// Claim makes the caller, in local process me, the writer of the stripe, unless there
// is one. It may write as soon as there is no Occupant any more.
func (s *Stripes) Claim(stripe, me int) bool {
	// There is no load before the swap, since that would fetch the line once more.
	return s.writer(stripe).CompareAndSwap(0, uint64(me+1)) || s.claimFrom(stripe, me) // pairs with the load in Enter, and with Release
}

// claimFrom is the rest of Claim, where the writer word is not 0. It withdraws the favour
// of another.
func (s *Stripes) claimFrom(stripe, me int) bool {
	w, next := s.writer(stripe).Load(), uint64(me+1)
	if w == next<<favour {
		next |= w
	}
	return uint32(w) == 0 && s.writer(stripe).CompareAndSwap(w, next)
}

// Favours reports whether process me is favoured: then ClaimFavoured may be worth its call.
func (s *Stripes) Favours(stripe, me int) bool {
	return s.writer(stripe).Load() == uint64(me+1)<<favour
}

// ClaimFavoured makes the caller, in local process me, the writer of the stripe, if that
// process is favoured, and there is nobody inside: then an update of a single element costs
// less than by Enter. Another goroutine of the process is somebody: then the favour ends,
// too.
func (s *Stripes) ClaimFavoured(stripe, me int) bool {
	w, word := uint64(me+1)<<favour, s.writer(stripe)
	if !word.CompareAndSwap(w, w|uint64(me+1)) { // as in Claim
		return false
	}
	for process := range s.n { // Occupant, written out
		if uint32(s.readers(stripe, process).Load()) != 0 && !planted.FavourBlind { // pairs with Enter and Leave
			Publish(word, 0) // as Release
			return false
		}
	}
	return true
}

// swapFavoured stores value in an aligned word of the stripe if compare stands there, and
// returns what it was. It reports false, and has done nothing, where process me is not
// favoured, or somebody is inside. It is ClaimFavoured and ReleaseFavoured with what they
// enclose: of the 20 ns that a swap and a flush take, the calls were 1.5.
func (s *Stripes) swapFavoured(stripe, me int, p *uint64, compare, value uint64) (was uint64, ok bool) {
	w, word := uint64(me+1)<<favour, s.writer(stripe)
	if word.Load() != w || !word.CompareAndSwap(w, w|uint64(me+1)) { // as in Claim
		return 0, false
	}
	for process := range s.n { // Occupant, written out
		if uint32(s.readers(stripe, process).Load()) != 0 && !planted.FavourBlind { // pairs with Enter and Leave
			Publish(word, 0) // as Release
			return 0, false
		}
	}
	if was = *p; was == compare {
		*p = value
	}
	Publish(word, w) // as Release: nobody else changes the word meanwhile
	return was, true
}

// ReleaseFavoured ends what ClaimFavoured began.
func (s *Stripes) ReleaseFavoured(stripe, me int) {
	Publish(s.writer(stripe), uint64(me+1)<<favour) // as Release: nobody else changes the word meanwhile
}

// Release ends what Claim began.
func (s *Stripes) Release(stripe int) {
	w := s.writer(stripe)
	Publish(w, w.Load()>>favour<<favour) // pairs with the load in Enter and the swap in Claim: they see what we did
}

// Holder is the process that has the stripe as its writer, -1 if none has.
func (s *Stripes) Holder(stripe int) int { return int(uint32(s.writer(stripe).Load())) - 1 }

// Occupant is the first process from process on that has readers in the stripe, -1 if
// none has.
func (s *Stripes) Occupant(stripe, process int) int {
	for ; process < s.n; process++ {
		if uint32(s.readers(stripe, process).Load()) != 0 { // pairs with Enter and Leave
			return process
		}
	}
	return -1
}

// Reap takes a process that is dead out of all stripes. Several may do that, again and
// again.
func (s *Stripes) Reap(process int) {
	if process < 0 || process >= s.n {
		return
	}
	for i := range StripeCount {
		s.readers(i, process).Store(0)
		if w := s.writer(i).Load(); uint32(w) == uint32(process)+1 && !planted.WriterNotReaped {
			s.writer(i).CompareAndSwap(w, w>>favour<<favour)
		}
	}
}
