package p2p

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// A receiver that reads a long message from the memory of its sender asks the sender to assist: a sender
// that polls meanwhile, since it waits, writes a part of the message to the memory of the receiver. Two cores
// then copy, and the message takes little more than half of the time. Sender and receiver claim pieces of
// the message in shared memory (shmfmt.Pieces). A sender that does something else claims none, and the
// receiver reads all, as without Assist. The receiver sends Ack when all pieces are copied; until then
// neither memory is reused.
//
// With more processes than cores no sender is asked: one that loses its core in a piece would delay the
// receiver by a time slice.

const (
	// assistMin is the length in bytes of a message from which on a sender assists.
	assistMin = 48 << 10
	// pieceMin and pieceMax bound the length of a piece in bytes; a shorter message has two. The call of
	// the kernel for a piece takes as long as copying 16 KiB; and one piece is all that a side waits for
	// at the end.
	pieceMin = 64 << 10
	pieceMax = 256 << 10
)

// pieces returns how many pieces a message of n bytes has, and their length.
func pieces(n uint64) (count int, size uint64) {
	size = min(max(n/8, min(n/2, pieceMin)), pieceMax)
	return int((n + size - 1) / size), size
}

// assistance is a message of which this process, its sender, copies pieces.
type assistance struct {
	pieces *shmfmt.Pieces
	use    uint32
	peer   int32
	copied int    // pieces
	name   uint64 // handle of the send
	addr   uint64 // of the receiver's memory
	need   uint64 // bytes of the message that are copied
}

// Unassisted has this process copy what it receives by itself: valgrind, which may run it, takes what another
// process writes for memory that was never set. It is called before the first message.
func (e *Engine) Unassisted() { e.assisted = false }

// askAssistance asks the sender q of r to assist, if that may be faster. It does not ask if this process has
// announced a message to q itself: q then reads that message, and the question would only cost a frame.
func (e *Engine) askAssistance(q *peer, r *Request) {
	r.pieces = nil
	b, contiguous := r.mem.Bytes()
	peer := int(r.peer)
	if r.need < assistMin || !contiguous || q.unanswered > 0 || !e.assisted || !e.p.Near(peer) || e.p.Node().Sleeps(peer) {
		return
	}
	n, _ := pieces(r.need)
	if n > shmfmt.PiecesMax {
		return
	}
	q.use++
	r.pieces, r.use = e.p.Node().PiecesFrom(peer), q.use
	r.pieces.Open(r.use, n)
	e.hdr = wire.Header{Kind: wire.Assist, Name: r.remoteHandle, Ctx: r.need, Arg: uint64(uintptr(unsafe.Pointer(&b[0]))), Aux: r.use}
	e.p.Queue(peer, &e.hdr, nil, nil)
}

// pullPiece is pull for a message that the sender may assist with.
func (e *Engine) pullPiece(r *Request) (ended bool) {
	n, size := pieces(r.need)
	if i, ok := r.pieces.Front(); ok {
		at := uint64(i) * size
		if e.readRemote(r, at, min(at+size, r.need)) != nil { // the kernel refuses
			r.pieces.Close()
			r.addr = 0
		}
	}
	ended, ok := r.pieces.Ended(r.use, n)
	if !ended && (r.pieces.Left() || !planted.AssistUnawaited) {
		return false
	}
	r.pieces = nil
	if !ok || r.addr == 0 {
		e.requestStream(r)
		return true
	}
	e.ack(r.peer, r.remoteHandle)
	e.finish(r, nil)
	return true
}

// assist handles a frame Assist.
func (e *Engine) assist(from int, h *wire.Header) {
	if r := e.announced(int32(from), h.Name); r == nil || h.Ctx < assistMin || h.Ctx > uint64(r.size()) || !r.mem.Contiguous() ||
		!e.p.Near(from) || !e.p.Node().CanWrite(from) {
		return
	}
	e.assistances = append(e.assistances, assistance{e.p.Node().PiecesTo(from), h.Aux, int32(from), 0, h.Name, h.Arg, h.Ctx})
	e.p.SetBusy(1)
}

// announced returns the send to a peer with that handle that waits for Clear or Ack, nil if there is none.
func (e *Engine) announced(peer int32, name uint64) *Request {
	r := e.handles.Find(name)
	if r == nil || !r.Send || r.peer != peer || r.phase != phaseReady || r.queued {
		return nil
	}
	return r
}

// copyPiece copies a piece. It returns false if there is nothing more to copy.
func (e *Engine) copyPiece(a *assistance) bool {
	r := e.announced(a.peer, a.name)
	if r == nil {
		return false
	}
	i, ok := a.pieces.Back(a.use)
	if !ok {
		return false
	}
	_, size := pieces(a.need)
	from := uint64(i) * size
	ok = from < a.need
	if ok {
		ok = e.writeRemote(a, r.mem, from, min(from+size, a.need)) == nil
	}
	a.copied++
	a.pieces.Copied(a.use, a.copied, ok)
	return ok
}

// writeRemote copies the bytes [from, to) of contiguous memory to the receiver's memory.
func (e *Engine) writeRemote(a *assistance, m mem.Mem, from, to uint64) error {
	b, _ := m.Bytes()
	e.iov[0] = b[from:to]
	err := e.p.Node().Write(int(a.peer), e.iov[:1], a.addr+from)
	e.iov[0] = nil
	return err
}

// endAssistance forgets assistance i.
func (e *Engine) endAssistance(i int) {
	last := len(e.assistances) - 1
	e.assistances[i] = e.assistances[last]
	e.assistances = e.assistances[:last]
	e.p.SetBusy(-1)
}
