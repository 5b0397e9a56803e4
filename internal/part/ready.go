package part

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
)

// Ready marks the partitions [lo, hi) as ready. It needs no lock, and any number of goroutines may
// call it at the same time.
//
// Cost, directly: a compare-and-swap, the copy, and an addition for each partition of the receive
// and one for the send.
func (s *Send) Ready(lo, hi int) error {
	if lo < 0 || hi > s.parts || lo >= hi {
		return s.outside(lo, hi)
	}
	var err error
	round := s.round.Load()
	for i := lo; i < hi; i++ {
		if !s.mark(i, round) {
			err, hi = s.misused(i), i
		}
	}
	if lo < hi {
		s.offer(lo, hi, round)
		if s.broken.Load() && err == nil {
			err = s.inactive()
		}
	}
	return err
}

// mark reports whether partition i was not ready in this round before.
func (s *Send) mark(i int, round uint64) bool {
	was := s.marked[i].Load()
	return was < round && s.marked[i].CompareAndSwap(was, round)
}

// outside is the error of partitions that do not exist.
func (s *Send) outside(lo, hi int) error {
	if lo >= hi {
		return class.Errorf(class.Arg, "partitions %d to %d are no range", lo, hi-1)
	}
	if hi-lo == 1 {
		return class.Errorf(class.Arg, "partition %d of a request of %d", lo, s.parts)
	}
	return class.Errorf(class.Arg, "partitions %d to %d of a request of %d", lo, hi-1, s.parts)
}

// misused is the error of partition i, which is ready already. It takes the lock.
func (s *Send) misused(i int) error {
	if err := s.inactive(); err != nil {
		return err
	}
	return class.Errorf(class.Request, "partition %d of %d is ready already", i, s.parts)
}

// inactive returns an error if the request is not started. It takes the lock.
func (s *Send) inactive() error {
	s.e.p.Lock()
	defer s.e.p.Unlock()
	if s.request.Active {
		return nil
	}
	return class.Errorf(class.Request, "the request is not started")
}

// offer moves partitions of the caller's, which it has marked, or leaves them to others.
func (s *Send) offer(lo, hi int, round uint64) {
	if d := s.direct.Load(); d != nil && (d.block.IsOpen(round) || planted.PartitionUnasked) {
		if s.move(d, lo, hi) {
			s.last(d, round)
		}
		if s.early.Load() == round {
			s.sweep(d, round)
		}
		return
	}
	s.leave(lo, hi, round)
	if d := s.direct.Load(); d != nil {
		if d.block.IsOpen(round) {
			s.sweep(d, round)
		}
		return
	}
	if s.framed.Load() == round { // pairs with the store by the handler of PartStart
		s.kick()
	}
}

// leave leaves partitions of a round in waiting.
func (s *Send) leave(lo, hi int, round uint64) {
	for lo < hi {
		w := &s.waiting[lo/partsWord]
		n := min(hi-lo, partsWord-lo%partsWord)
		set := (uint64(1)<<n - 1) << (lo % partsWord)
		for {
			was := w.Load()
			old := was
			if was>>32 != round&(1<<32-1) {
				old = round << 32 // of an earlier round, and empty
			}
			if w.CompareAndSwap(was, old|set) {
				break
			}
		}
		lo += n
	}
	for {
		was := s.early.Load()
		if was >= round || s.early.CompareAndSwap(was, round) { // pairs with the load in sweep and collect
			return
		}
	}
}

// take takes the partitions of word w of waiting.
func (s *Send) take(w int, round uint64) uint32 {
	for {
		was := s.waiting[w].Load()
		if was>>32 != round&(1<<32-1) || uint32(was) == 0 {
			return 0
		}
		if s.waiting[w].CompareAndSwap(was, was&^(1<<32-1)) {
			return uint32(was)
		}
	}
}

// run returns the first set bits of x in a row, [lo, lo+n), and x without them.
func run(x uint32) (lo, n int, rest uint32) {
	lo = bits.TrailingZeros32(x)
	n = bits.TrailingZeros32(^(x >> lo))
	return lo, n, x &^ uint32((uint64(1)<<n-1)<<lo)
}

// sweep moves the partitions in waiting; the caller has found that the round is open.
func (s *Send) sweep(d *direct, round uint64) {
	s.early.CompareAndSwap(round, 0) // before the words are loaded
	for w := range s.waiting {
		for x := s.take(w, round); x != 0; {
			lo, n, rest := run(x)
			x = rest
			if s.move(d, w*partsWord+lo, w*partsWord+lo+n) {
				s.last(d, round)
			}
		}
	}
}

// move moves partitions to the receiver's buffer. It reports whether they are the last of the round.
func (s *Send) move(d *direct, lo, hi int) (last bool) {
	if planted.PartitionCountedFirst {
		d.arrive(lo*s.size, hi*s.size)
	}
	if err := d.copy(s, lo*s.size, hi*s.size); err != nil {
		s.e.p.Lock()
		s.e.refused(s, err)
		s.e.p.Unlock()
		return false
	}
	if !planted.PartitionCountedFirst {
		d.arrive(lo*s.size, hi*s.size)
	}
	return s.left.Add(int64(lo-hi)) == 0
}

// last ends a round whose partitions are all moved. It takes the lock.
func (s *Send) last(d *direct, round uint64) {
	d.finish(s.e, round)
	s.e.p.Lock()
	s.e.moved(s, d)
	s.e.p.Unlock()
}

// kick has what is in waiting sent in frames, unless another goroutine is about to do that: then
// this partition travels with those of the other.
func (s *Send) kick() {
	if s.kicked.Swap(true) { // pairs with the store in push
		return
	}
	s.e.p.Lock()
	s.e.push(s)
	s.e.p.Unlock()
}
