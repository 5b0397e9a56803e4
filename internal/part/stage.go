package part

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # The stage
//
// If the buffer of a receive is not mapped by the sender, or not contiguous, the receiver gives the
// sender other memory to write to, the stage, and copies each partition of the receive from there to
// the buffer: the goroutine that asks whether the partition has arrived, or a poll. For short
// partitions two copies cost less than a system call, and half of the work is the receiver's: 64
// partitions of 4 KiB take 8 to 21 us instead of 22 to 62, and 130 instead of 142 to 250 between cores
// that share no cache. Longer ones are left to the kernel where it can copy them: they would gain as
// well, but a receiver that computes meanwhile would have much to copy when it waits.
//
// fetched holds for each partition of the receive twice the number of the last round in which it was
// copied, or one less while a goroutine copies it. The round is complete when all are copied. Who
// has copied a partition looks afterwards whether the sender has finished the round; who finds that
// it has finished looks at fetched afterwards. So at least one of the two completes the request.
const (
	// stageMax is the length of the longest stage in bytes.
	stageMax = 4 << 20
	// kernelPart is the length in bytes of the shortest partition of a send that does not go through
	// a stage, if the kernel can copy it.
	kernelPart = 16 << 10
	// fetchMax is how many bytes a poll copies from stages, so that the engine's lock is free in
	// between.
	fetchMax = 256 << 10
)

// staged makes the stage for the send o, if that is the best way.
func (r *Recv) staged(o *offer) bool {
	e, total := r.e, r.mem.Len()
	kernel := r.mem.Contiguous() && e.p.Reader(int(r.peer)) != nil && e.node.CanWrite(int(r.peer))
	if total > stageMax || kernel && uint64(total)/kernelPart >= o.parts {
		return false
	}
	m, err := e.mem.Alloc(int64(total), shmfmt.Line)
	if err != nil || m.Off < 0 {
		return false
	}
	r.stage, r.fetched = m, make([]atomic.Uint64, r.parts)
	return true
}

// fetch copies partition i, which has arrived, from the stage to the buffer, if there is one. It
// reports whether the partition is in the buffer; another goroutine may be about to copy it. It
// needs no lock.
func (r *Recv) fetch(i int, round uint64) bool {
	if !r.block.Direct() || r.stage.Mem == nil {
		return true
	}
	f := &r.fetched[i]
	was := f.Load()
	if was >= 2*round-1 || !f.CompareAndSwap(was, 2*round-1) {
		return f.Load() >= 2*round
	}
	r.mem.Unpack(r.stage.Mem[i*r.size:(i+1)*r.size], i*r.size)
	f.Store(2 * round) // before the load of Finished; pairs with the loads in fetchSome
	return true
}

// fetchSome copies partitions that have arrived from the stage, in order. It reports how many, and
// whether all of the round are in the buffer. The lock is held.
func (r *Recv) fetchSome() (n int, all bool) {
	if r.stage.Mem == nil || !r.block.Direct() {
		return 0, true
	}
	round := r.round.Load()
	for bytes := 0; r.next < r.parts; r.next++ {
		if bytes > fetchMax || !r.arrived(r.next, round) || !r.fetch(r.next, round) {
			return n, false
		}
		bytes += r.size
		n++
	}
	return n, true
}
