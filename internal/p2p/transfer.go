package p2p

import "github.com/halo-mpi/halo/internal/wire"

const (
	// pullAtOnce is the longest payload read from a sender's memory as soon as
	// it is matched; longer ones are read in pieces, so that the engine's lock
	// is free now and then. In bytes.
	pullAtOnce = 256 << 10
)

// fetch gets the payload of an announced message into r.
func (e *Engine) fetch(r *Request, name, addr, size uint64) {
	if cause := e.p.DownCause(int(r.peer)); cause != nil {
		e.lose(r, r.peer, cause)
		return
	}
	r.remote, r.moved = name, 0
	r.need = min(size, uint64(r.size()))
	if r.need == 0 {
		e.ack(r.peer, name)
		e.finish(r, nil)
		return
	}
	if addr != 0 && r.mem.Gathers() && e.p.Reader(int(r.peer)) != nil {
		r.phase = phasePull
		r.addr = addr
		if !e.pull(r, pullAtOnce) {
			e.pulls = append(e.pulls, r)
			e.p.SetBusy(1)
		}
		return
	}
	e.ask(r)
}

// ask has the sender stream the payload, from its start.
func (e *Engine) ask(r *Request) {
	if !e.takes(r, r.need) {
		e.ack(r.peer, r.remote)
		b, _ := r.mem.Bytes()
		r.Status.Err = unwritable(b[:r.need])
		e.finish(r, nil)
		return
	}
	r.phase, r.moved = phaseFill, 0
	e.peers[r.peer].asked--
	e.hdr = wire.Header{Kind: wire.Clear, Name: r.remote, Arg: e.give(r), Ctx: r.need}
	e.p.Queue(int(r.peer), &e.hdr, nil, nil)
}

// pull reads at most limit more bytes from the sender's memory, and reports
// true if that ended this way of moving the payload.
func (e *Engine) pull(r *Request, limit uint64) bool {
	n := min(limit, r.need-r.moved)
	if err := e.read(r, n); err != nil { // the kernel refuses: let the sender do it
		e.ask(r)
		return true
	}
	if r.moved += n; r.moved < r.need {
		return false
	}
	e.ack(r.peer, r.remote)
	e.finish(r, nil)
	return true
}

// stream starts sending the payload of r to the peer's request.
func (e *Engine) stream(r *Request, to, want uint64) {
	r.phase = phaseStream
	r.remote, r.moved, r.need = to, 0, min(want, uint64(r.size()))
	r.staged = 0
	r.queued = false
	e.streams = append(e.streams, r)
	e.p.SetBusy(1)
}

// Work implements proc.Worker: every transfer advances by one piece, in turn.
func (e *Engine) Work() int {
	n := 0
	for i := 0; i < len(e.pulls); i++ {
		n++
		if e.pull(e.pulls[i], pullAtOnce) {
			e.pulls = remove(e.pulls, i)
			e.p.SetBusy(-1)
			i--
		}
	}
	for i := 0; i < len(e.streams); i++ {
		r := e.streams[i]
		for burst := 0; burst < streamBurst && !r.queued && r.moved < r.need; burst++ {
			n++
			e.chunk(r)
		}
		if !r.queued && r.moved == r.need {
			e.streams = remove(e.streams, i)
			e.p.SetBusy(-1)
			i--
			e.drop(r)
			e.finish(r, nil)
			n++
		}
	}
	return n
}

// streamBurst is how many frames a stream sends before the next has its turn.
const streamBurst = 4

// chunk sends the next frames of a stream, or leaves one in the backlog.
func (e *Engine) chunk(r *Request) {
	n, bytes := e.follows(r)
	e.hdr = wire.Header{Kind: wire.Data, Name: r.remote, Arg: r.moved}
	taken := uint64(e.p.SendRun(int(r.peer), &e.hdr, e.iov[:n]))
	clear(e.iov[:n])
	if r.moved += taken; taken == bytes {
		return
	}
	rest := e.packedRest(r)
	rest = rest[:min(e.p.ChunkMax(int(r.peer)), len(rest))]
	e.hdr = wire.Header{Kind: wire.Data, Size: uint32(len(rest)), Name: r.remote, Arg: r.moved}
	r.moved += uint64(len(rest))
	r.queued = !e.p.Queue(int(r.peer), &e.hdr, rest, r)
}

// remove takes element i out; the order of the others may change.
func remove(s []*Request, i int) []*Request {
	last := len(s) - 1
	s[i], s[last] = s[last], nil
	return s[:last]
}

// failSend ends a send whose peer is gone.
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
	e.drop(r)
	e.finish(r, gone(r.comm, r.peer, cause))
}

// failPulls ends the receives that read from a process that is gone.
func (e *Engine) failPulls(peer int32, cause error) {
	for i := 0; i < len(e.pulls); i++ {
		if r := e.pulls[i]; r.peer == peer {
			e.pulls = remove(e.pulls, i)
			e.p.SetBusy(-1)
			i--
			e.lose(r, peer, cause)
		}
	}
}

// filled counts n bytes that a Data frame has brought.
func (e *Engine) filled(r *Request, n int) {
	if r.moved += uint64(n); r.moved == r.need {
		e.drop(r)
		e.finish(r, nil)
	}
}
