package p2p

import (
	"slices"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

const (
	// pullMax is how many bytes are read from a sender's memory at a time. A longer
	// payload is read in pieces, so that the engine's lock is free in between.
	pullMax = 256 << 10
)

// fetch starts the transfer of the payload of an announced message to r.
func (e *Engine) fetch(r *Request, name, addr, size uint64) {
	if cause := e.p.DownCause(int(r.peer)); cause != nil {
		e.failRecv(r, r.peer, cause)
		return
	}
	r.remoteHandle, r.moved = name, 0
	r.need = min(size, uint64(r.size()))
	if r.need == 0 {
		e.ack(r.peer, name)
		e.finish(r, nil)
		return
	}
	if addr != 0 && r.mem.Gathers() && e.p.Reader(int(r.peer)) != nil {
		r.phase = phasePull
		r.addr = addr
		if !e.advance(r) {
			e.pulls = append(e.pulls, r)
			e.p.SetBusy(1)
		}
		return
	}
	e.requestStream(r)
}

// requestStream asks the sender to stream the payload, from its first byte.
func (e *Engine) requestStream(r *Request) {
	if !e.canWriteEnds(r, r.need) {
		e.ack(r.peer, r.remoteHandle)
		b, _ := r.mem.Bytes()
		r.Status.Err = unwritable(b[:r.need])
		e.finish(r, nil)
		return
	}
	r.phase, r.moved, r.discards = phaseFill, 0, false
	e.peers.At(int(r.peer)).peerUnanswered--
	e.hdr = wire.Header{Kind: wire.Clear, Name: r.remoteHandle, Arg: e.assignHandle(r), Ctx: r.need}
	e.p.Queue(int(r.peer), &e.hdr, nil, nil)
}

// advance reads the next piece of r, unless an earlier message of the same sender is not complete. It
// reports true if the pull has ended.
func (e *Engine) advance(r *Request) bool {
	q := e.peers.At(int(r.peer))
	if q.pulling == nil {
		q.pulling = r
		e.askAssistance(q, r)
	}
	if q.pulling != r || !e.pull(r, pullMax) {
		return false
	}
	q.pulling = nil
	return true
}

// pull reads at most limit more bytes from the sender's memory. It reports true if the pull
// has ended: it is complete, or the sender streams the payload instead.
func (e *Engine) pull(r *Request, limit uint64) bool {
	if r.pieces != nil {
		return e.pullPiece(r)
	}
	n := min(limit, r.need-r.moved)
	if err := e.readRemote(r, r.moved, r.moved+n); err != nil { // the kernel refuses: the sender streams instead
		e.requestStream(r)
		return true
	}
	r.moved += n
	if r.moved < r.need {
		return false
	}
	e.ack(r.peer, r.remoteHandle)
	e.finish(r, nil)
	return true
}

// stream starts sending want bytes of the payload of r to the peer's request to.
func (e *Engine) stream(r *Request, to, want uint64) {
	r.phase = phaseStream
	r.remoteHandle, r.moved, r.need = to, 0, min(want, uint64(r.size()))
	r.staged = 0
	*r.tested() = 0
	r.queued = false
	e.streams = append(e.streams, r)
	e.p.SetBusy(1)
}

// Work implements proc.Worker: every transfer advances by one piece, in turn. Of several pulls from one
// sender only the first one does, so that the sender assists with each. The process polls between the
// pieces, so that short messages do not wait for several.
func (e *Engine) Work() int {
	n := 0
	for i := 0; i < len(e.pulls); i++ {
		n++
		if e.advance(e.pulls[i]) {
			e.pulls = slices.Delete(e.pulls, i, i+1)
			e.p.SetBusy(-1)
			i--
		}
	}
	for i := 0; i < len(e.assistances) && len(e.pulls) == 0; i++ {
		n++
		if !e.copyPiece(&e.assistances[i]) {
			e.endAssistance(i)
			i--
		}
	}
	for i := 0; i < len(e.streams); i++ {
		r := e.streams[i]
		for piece := 0; piece < 1 || planted.PiecesInARow && piece < 4; piece++ {
			if !r.queued && r.moved < r.need {
				n++
				e.sendChunk(r)
			}
		}
		if !r.queued && r.moved == r.need {
			e.streams = remove(e.streams, i)
			e.p.SetBusy(-1)
			i--
			e.releaseHandle(r)
			e.finish(r, nil)
			n++
		}
	}
	return n
}

// sendChunk sends the next frames of a stream, or puts one into the send queue.
func (e *Engine) sendChunk(r *Request) {
	n, bytes := e.nextSlices(r)
	if !e.canReadNext(r, n) {
		clear(e.iov[:n])
		e.cutStream(r)
		return
	}
	e.hdr = wire.Header{Kind: wire.Data, Name: r.remoteHandle, Arg: r.moved}
	taken := uint64(e.p.SendRun(int(r.peer), &e.hdr, e.iov[:n]))
	clear(e.iov[:n])
	r.moved += taken
	if taken == bytes {
		return
	}
	rest := e.packedRest(r)
	rest = rest[:min(e.p.ChunkMax(int(r.peer)), len(rest))]
	e.hdr = wire.Header{Kind: wire.Data, Size: uint32(len(rest)), Name: r.remoteHandle, Arg: r.moved}
	r.moved += uint64(len(rest))
	r.queued = !e.p.Queue(int(r.peer), &e.hdr, rest, r)
}

// remove removes element i; the order of the others may change.
func remove(s []*Request, i int) []*Request {
	last := len(s) - 1
	s[i], s[last] = s[last], nil
	return s[:last]
}

// failSend completes a send whose peer has failed.
func (e *Engine) failSend(r *Request, cause error) {
	if r.phase == phaseRevoke {
		e.endRevoke(r)
		return
	}
	for i, q := range e.streams {
		if q == r {
			e.streams = remove(e.streams, i)
			e.p.SetBusy(-1)
			break
		}
	}
	e.releaseHandle(r)
	e.finish(r, peerFailed(r.comm, r.peer, cause))
}

// failPulls completes the receives that read from a process that has failed.
func (e *Engine) failPulls(peer int32, cause error) {
	e.peers.At(int(peer)).pulling = nil
	for i := 0; i < len(e.pulls); i++ {
		if r := e.pulls[i]; r.peer == peer {
			if r.pieces != nil {
				// A sender that is lost, but still lives, claims no further piece: the memory will be reused.
				// A piece that it is copying at this moment still arrives.
				r.pieces.Close()
				r.pieces = nil
			}
			e.pulls = slices.Delete(e.pulls, i, i+1)
			e.p.SetBusy(-1)
			i--
			e.failRecv(r, peer, cause)
		}
	}
}

// dataArrived counts n bytes of a Data frame, and completes r after the last one.
func (e *Engine) dataArrived(r *Request, n int) {
	r.moved += uint64(n)
	if r.moved == r.need {
		e.releaseHandle(r)
		e.finish(r, nil)
	}
}
