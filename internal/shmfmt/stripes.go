package shmfmt

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

const (
	// StripeCount is the number of stripes. Neighbouring pieces of memory have different
	// stripes, so that two processes that update different parts rarely share one.
	StripeCount = 8
	// StripeShift is the logarithm of the number of consecutive bytes that have one stripe. A
	// quarter of it made long updates slower by a fifteenth, and twice of it no faster. A
	// writer updates as many bytes in less than a microsecond.
	StripeShift = 15
)

// Stripes are reader-writer locks over the memory of a window. A writer updates memory by vectors;
// readers update single elements by atomic operations of the processor, several at a time. A stripe
// covers every StripeCount-th piece of 1<<StripeShift bytes. An element belongs to the stripe of
// its first byte.
//
// A reader increments its count, in a line of its own process, and then loads the stripe's writer
// word. A writer stores the word, and then loads the counts of all processes. Each stores before it
// loads, so that at least one of the two sees the other. A reader that sees a writer steps back; a
// writer waits until the readers have left. So a reader costs two atomic operations on a line that
// only its own process writes, and one load of a line that rarely changes.
//
// A writer costs one atomic operation: it leaves by a plain store, since no other process changes
// the word then. So a process that is alone in a stripe is faster as a writer, also for a single
// element. If several processes did the same, each would wait for the line of the word, and for a
// writer that has lost its core. Therefore a stripe is a biased lock: the writer word names one
// process that may enter as a writer for single elements. A process takes the bias after it has
// entered as a reader many times, and the next reader of another process withdraws it. The bias is
// a hint: the exclusion does not depend on it.
//
// No method waits: the caller does. In zeroed memory nobody is in a stripe. The counts and writer
// words say in which stripes a process was that has died: Reap.
//
// Rejected: a reader-writer lock in one word. All readers would write its line, and it would not
// say which of them died.
//
// Layout: StripeCount lines with a writer word each, then for each process one line with
// StripeCount counts.
type Stripes struct {
	mem unsafe.Pointer
	n   int
}

// StripesSize returns the size in bytes of the stripes of n processes.
func StripesSize(n int) int64 { return (StripeCount + int64(n)) * Line }

// OpenStripes returns the stripes of n processes in mem, which begins at a line.
func OpenStripes(mem []byte, n int) *Stripes {
	return &Stripes{unsafe.Pointer(unsafe.SliceData(mem[:StripesSize(n)])), n}
}

// HeapStripes makes stripes of n processes on the Go heap.
func HeapStripes(n int) *Stripes { return OpenStripes(heapMemory(StripesSize(n)), n) }

// Stripe returns the stripe of the element that begins at byte off of the memory.
func Stripe(off int64) int { return int(off>>StripeShift) & (StripeCount - 1) }

// StripeBase returns the offset to add to offsets in memory that begins at addr, so that the same
// byte has the same stripe in each of several parts of memory that overlap.
func StripeBase(addr uint64) int64 { return int64(addr & (StripeCount<<StripeShift - 1)) }

// StripeEnd returns where the piece of memory ends that contains the byte at off.
func StripeEnd(off int64) int64 { return (off>>StripeShift + 1) << StripeShift }

// Local returns the number of processes.
func (s *Stripes) Local() int { return s.n }

// biasShift is the position in bits of the biased process in the writer word.
const biasShift = 32

// writer returns the writer word. Its lower half is 1 + the process that is the writer, 0 if none
// is. Its upper half is 1 + the process that the stripe is biased to, 0 if to none.
func (s *Stripes) writer(stripe int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(s.mem, stripe*Line))
}

// entered is what a reader adds to its count. The lower half counts the readers inside, the upper
// half all that have entered.
const entered = 1<<32 + 1

// readers returns the count of the readers of a process.
func (s *Stripes) readers(stripe, process int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(s.mem, (StripeCount+process)*Line+stripe*8))
}

// Enter makes the caller, in local process me, a reader of the stripe. It returns false if there is
// a writer.
func (s *Stripes) Enter(stripe, me int) bool {
	if planted.ReaderSilent {
		return s.readers(stripe, me).Add(entered-1)>>32%biasEvery != 0 && s.writer(stripe).Load() == 0 || s.enterLate(stripe, me)
	}
	if planted.ReaderLooksFirst && s.writer(stripe).Load() == 0 {
		return s.readers(stripe, me).Add(entered)>>32%biasEvery != 0 || s.enterLate(stripe, me)
	}
	// The sum pairs with the loads in Occupant, the load with the swap in Claim and the
	// store in Release.
	return s.readers(stripe, me).Add(entered)>>32%biasEvery != 0 && s.writer(stripe).Load() == 0 || s.enterLate(stripe, me)
}

// enterLate is the slow path of Enter: there is a writer, or a bias to take or to withdraw.
func (s *Stripes) enterLate(stripe, me int) bool {
	w := s.writer(stripe).Load() // as in Enter
	switch {
	case uint32(w) != 0:
		s.Leave(stripe, me)
		return false
	case w == 0 && s.n <= biasMost:
		s.writer(stripe).CompareAndSwap(0, uint64(me+1)<<biasShift)
	case w>>biasShift != uint64(me)+1:
		s.writer(stripe).CompareAndSwap(w, 0)
	}
	return true
}

const (
	// biasEvery is after how many entries as a reader a process takes the bias, if the stripe
	// is biased to none. It is a power of two, so small that a process that is alone soon has
	// the bias, and so large that several processes do not contend for the line of the word.
	biasEvery = 1024
	// biasMost is the largest number of processes whose counts ClaimBiased loads fast enough.
	biasMost = 16
)

// Leave undoes Enter.
func (s *Stripes) Leave(stripe, me int) {
	if planted.ReaderSilent {
		return
	}
	s.readers(stripe, me).Add(^uint64(0)) // pairs with the load in Occupant: the writer sees the updates of this reader
}

// Claim makes the caller, in local process me, the writer of the stripe. It returns false if there
// is a writer. The caller may write once Occupant finds no reader.
func (s *Stripes) Claim(stripe, me int) bool {
	// There is no load before the swap, since it would fetch the line once more.
	return s.writer(stripe).CompareAndSwap(0, uint64(me+1)) || s.claimFrom(stripe, me) // pairs with the load in Enter, and with Release
}

// claimFrom is the slow path of Claim, for a writer word that is not 0. It withdraws a bias to
// another process.
func (s *Stripes) claimFrom(stripe, me int) bool {
	w, next := s.writer(stripe).Load(), uint64(me+1)
	if w == next<<biasShift {
		next |= w
	}
	return uint32(w) == 0 && s.writer(stripe).CompareAndSwap(w, next)
}

// Biased reports whether the stripe is biased to process me, so that ClaimBiased can succeed.
func (s *Stripes) Biased(stripe, me int) bool {
	return s.writer(stripe).Load() == uint64(me+1)<<biasShift
}

// ClaimBiased makes the caller, in local process me, the writer of the stripe, if the stripe is
// biased to that process and has neither readers nor a writer. Then an update of a single element
// costs less than with Enter. If there are readers, also of the same process, the bias ends.
func (s *Stripes) ClaimBiased(stripe, me int) bool {
	w, word := uint64(me+1)<<biasShift, s.writer(stripe)
	if !word.CompareAndSwap(w, w|uint64(me+1)) { // as in Claim
		return false
	}
	for process := range s.n { // Occupant, written out
		if uint32(s.readers(stripe, process).Load()) != 0 && !planted.BiasBlind { // pairs with Enter and Leave
			Publish(word, 0) // as Release
			return false
		}
	}
	return true
}

// swapBiased stores value in an aligned word of the stripe if the word is compare, and returns what
// the word was. It reports false, and has done nothing, if ClaimBiased would fail. It contains
// ClaimBiased and ReleaseBiased, since the calls were 1.5 of the 20 ns that a swap and a flush
// take.
func (s *Stripes) swapBiased(stripe, me int, p *uint64, compare, value uint64) (was uint64, ok bool) {
	w, word := uint64(me+1)<<biasShift, s.writer(stripe)
	if word.Load() != w || !word.CompareAndSwap(w, w|uint64(me+1)) { // as in Claim
		return 0, false
	}
	for process := range s.n { // Occupant, written out
		if uint32(s.readers(stripe, process).Load()) != 0 && !planted.BiasBlind { // pairs with Enter and Leave
			Publish(word, 0) // as Release
			return 0, false
		}
	}
	was = *p
	if was == compare {
		*p = value
	}
	Publish(word, w) // as Release: nobody else changes the word meanwhile
	return was, true
}

// ReleaseBiased ends what ClaimBiased began, and keeps the bias.
func (s *Stripes) ReleaseBiased(stripe, me int) {
	Publish(s.writer(stripe), uint64(me+1)<<biasShift) // as Release: nobody else changes the word meanwhile
}

// Release ends what Claim began.
func (s *Stripes) Release(stripe int) {
	w := s.writer(stripe)
	Publish(w, w.Load()>>biasShift<<biasShift) // pairs with the load in Enter and the swap in Claim: they see the updates of this writer
}

// Holder returns the process that is the writer of the stripe, -1 if none is.
func (s *Stripes) Holder(stripe int) int { return int(uint32(s.writer(stripe).Load())) - 1 }

// Occupant returns the first process, from process on, that has readers in the stripe, -1 if none
// has.
func (s *Stripes) Occupant(stripe, process int) int {
	for ; process < s.n; process++ {
		if uint32(s.readers(stripe, process).Load()) != 0 { // pairs with Enter and Leave
			return process
		}
	}
	return -1
}

// Reap takes a dead process out of all stripes. Several processes may do so at the same time, and
// repeatedly.
func (s *Stripes) Reap(process int) {
	if process < 0 || process >= s.n {
		return
	}
	for i := range StripeCount {
		s.readers(i, process).Store(0)
		if w := s.writer(i).Load(); uint32(w) == uint32(process)+1 && !planted.WriterNotReaped {
			s.writer(i).CompareAndSwap(w, w>>biasShift<<biasShift)
		}
	}
}
