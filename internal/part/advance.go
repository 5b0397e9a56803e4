package part

import (
	"math/bits"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// pieceMax is how many bytes a poll copies for a send, so that the engine's lock is free in
	// between.
	pieceMax = 256 << 10
	// frameBurst is how often a poll sends frames of one send before the next send has its turn.
	frameBurst = 4
	// probeMin is the length in bytes from which on memory is tested before a socket reads or writes it, piece
	// by piece: see package p2p.
	probeMin = 2 << 10
)

// push sends the partitions in waiting. If some are left and go by frames, polls send them.
func (e *Engine) push(s *Send) {
	if !planted.PartitionKickedLate {
		s.kicked.Store(false) // before collect; pairs with the Swap in kick
	}
	e.advance(s)
	if planted.PartitionKickedLate {
		s.kicked.Store(false)
	}
	if s.direct.Load() == nil && s.pending() {
		e.list(s, true)
	}
}

// pending reports whether there are partitions of s to send in frames.
func (s *Send) pending() bool {
	if s.queued || s.lo < s.hi {
		return s.active
	}
	for _, x := range s.queue {
		if x != 0 {
			return s.active
		}
	}
	return false
}

// advance moves partitions that goroutines have left in waiting, if the round is open. It reports how much
// it did.
func (e *Engine) advance(s *Send) (n int) {
	round, d := s.round.Load(), s.direct.Load()
	if !s.active || s.queued {
		return 0
	}
	if d != nil && !d.block.IsOpen(round) || d == nil && s.framed.Load() != round {
		return 0
	}
	s.collect(round)
	for burst := 0; burst < frameBurst && !s.queued && s.active; burst++ {
		if s.lo == s.hi && !e.next(s) {
			break
		}
		n++
		switch end := s.hi * s.size; {
		case s.at == end: // no bytes, or all in frames that have left the send queue
		case d == nil:
			if !e.sendPiece(s, min(end, s.at+pieceMax)) {
				return n
			}
		default:
			to := min(end, s.at+pieceMax)
			if err := d.copy(s, s.at, to); err != nil {
				e.refused(s, err)
				return n
			}
			d.arrive(s.at, to)
			s.at = to
		}
		if s.at == s.hi*s.size && !s.queued {
			e.ended(s, d, round)
		}
	}
	if d == nil && s.listed && !s.pending() {
		e.list(s, false)
	}
	return n
}

// ended counts the partitions [lo, hi), which have been moved, and ends the round after the last ones.
func (e *Engine) ended(s *Send, d *direct, round uint64) {
	n := s.hi - s.lo
	s.lo, s.hi = 0, 0
	if s.left.Add(int64(-n)) != 0 {
		return
	}
	if d != nil {
		d.finish(e, round)
	} else if s.mem.Len() == 0 {
		e.tell(s.peer, wire.Header{Kind: wire.PartData, Name: s.remote}, nil)
	}
	e.moved(s, d)
}

// collect takes the partitions of a round from waiting to queue.
func (s *Send) collect(round uint64) {
	if s.early.Load() != round || !s.early.CompareAndSwap(round, 0) { // before the words are loaded
		return
	}
	for w := range s.waiting {
		s.queue[w] |= s.take(w, round)
	}
}

// next takes the first partitions in a row from queue. It reports false if there are none.
func (e *Engine) next(s *Send) bool {
	for w, x := range s.queue {
		if x == 0 {
			continue
		}
		lo, n, rest := run(x)
		s.queue[w] = rest
		s.lo, s.hi = w*partsWord+lo, w*partsWord+lo+n
		w++
		for ; s.hi == w*partsWord && w < len(s.queue) && s.queue[w]&1 != 0; w++ {
			n := bits.TrailingZeros32(^s.queue[w])
			s.queue[w] &^= uint32(uint64(1)<<n - 1)
			s.hi += n
		}
		s.at = s.lo * s.size
		s.tested = s.at
		return true
	}
	return false
}

// canRead reports whether the bytes up to end of the partitions that are being moved can be read. It tests
// only what it has not tested before, and only if a socket sends it.
func (e *Engine) canRead(s *Send, end int) bool {
	from := max(s.at, s.tested)
	if from >= end || e.p.Here(int(s.peer)) {
		return true
	}
	s.tested = end
	b, contiguous := s.mem.Bytes()
	return !contiguous || (s.hi-s.lo)*s.size <= probeMin || sys.Readable(b[from:end])
}

// sendPiece sends the next bytes of the partitions that are being moved, up to byte end at most, in
// frames. A frame for which there is no room goes into the send queue. It reports false if the memory cannot be
// read: then the send has failed.
func (e *Engine) sendPiece(s *Send, end int) bool {
	if !e.canRead(s, end) {
		b, _ := s.mem.Bytes()
		b = b[s.lo*s.size : s.hi*s.size]
		e.fail(s, class.Errorf(class.Buffer, "the %d bytes at %p of partitions %d to %d of the send of rank %d cannot be read", len(b), unsafe.SliceData(b), s.lo, s.hi-1, s.comm.Rank))
		return false
	}
	peer, bytes := int(s.peer), end-s.at
	e.hdr = wire.Header{Kind: wire.PartData, Name: s.remote, Arg: uint64(s.at)}
	if s.mem.Gathers() {
		n, next := s.mem.Blocks(e.iov[:], s.at, end)
		bytes = next - s.at
		taken := e.p.SendRun(peer, &e.hdr, e.iov[:n])
		clear(e.iov[:n])
		s.at += taken
		bytes -= taken
		if bytes == 0 {
			return true
		}
	}
	n := min(bytes, e.p.ChunkMax(peer))
	b, contiguous := s.mem.Bytes()
	if contiguous {
		b = b[s.at : s.at+n]
	} else {
		if cap(s.frame) < n {
			s.frame = make([]byte, n)
		}
		b = s.frame[:n]
		s.mem.Pack(b, s.at)
	}
	e.hdr = wire.Header{Kind: wire.PartData, Size: uint32(n), Name: s.remote, Arg: uint64(s.at)}
	s.at += n
	s.queued = !e.p.Queue(peer, &e.hdr, b, s)
	return true
}

// Sent implements proc.Sent: a frame of s has left the send queue.
func (s *Send) Sent(err error) {
	s.queued = false
	if err != nil && s.active { // Down follows
		s.lo, s.hi = 0, 0
	}
}
