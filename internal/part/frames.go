package part

import (
	"encoding/binary"
	"math"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/wire"
)

// where says where the buffer of a receive is. It is the payload of PartMatch.
type where struct {
	parts  uint64 // of the receive
	block  uint64 // 1 + the offset of the control block in the receiver's heap; 0: use frames
	buffer uint64 // 1 + the offset of the buffer or the stage there; 0: the buffer is elsewhere
	addr   uint64 // of the buffer, for the kernel, 0 if it is not contiguous; never used as a pointer
}

const whereSize = 32

func (w *where) append(b []byte) []byte {
	for _, x := range [...]uint64{w.parts, w.block, w.buffer, w.addr} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func parseWhere(b []byte) (w where, ok bool) {
	if len(b) != whereSize {
		return w, false
	}
	le := binary.LittleEndian
	w = where{le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])}
	return w, w.parts <= math.MaxInt32 && w.block <= math.MaxInt64 && w.buffer <= math.MaxInt64
}

// textMax is the length of the longest text of a PartFail frame in bytes.
const textMax = 256

// Frame implements fabric.Sink. It trusts nothing in a frame: a handle must be of a request of the
// sender of the frame, otherwise the frame is dropped.
func (e *Engine) Frame(from int, h *wire.Header, payload []byte) {
	src := int32(from)
	e.start()
	switch h.Kind {
	case wire.PartInit:
		e.announce(src, h, payload)
	case wire.PartMatch:
		w, ok := parseWhere(payload)
		if !ok {
			e.messages.Refuse(from, "it has described a partitioned receive by %d bytes that are none", len(payload))
			return
		}
		e.counted(from)
		if s := e.sends.Find(h.Name); s != nil && s.peer == src && !s.matched {
			s.matched, s.remote = true, h.Arg
			if d := e.reach(s, &w); d != nil {
				d.block.SetDirect()
				s.direct.Store(d) // pairs with the loads in offer
				e.list(s, s.active)
			}
			e.advance(s)
		}
	case wire.PartStart:
		if s := e.sends.Find(h.Name); s != nil && s.peer == src && s.matched {
			s.framed.Store(h.Arg) // pairs with the load in offer
			e.push(s)
			if d := s.direct.Load(); d != nil && d.own != nil {
				for e.advance(s) > 0 { // nobody may poll in this process for a long time
				}
			}
		}
	case wire.PartData:
		if r := e.findData(src, h); r != nil && e.canWrite(r, int(h.Arg), int(h.Size)) {
			r.mem.Unpack(payload, int(h.Arg))
			e.dataArrived(r, h)
		}
	case wire.PartFail:
		err := class.Errorf(class.Class(h.Aux), "%s", payload[:min(len(payload), textMax)])
		if h.Aux == 0 || class.Class(h.Aux) > class.LastPredefined {
			e.messages.Refuse(from, "it has reported an error of class %d", h.Aux)
			return
		}
		if h.Flags&wire.ToReceive != 0 {
			if r := e.recvs.Find(h.Name); r != nil && r.peer == src && r.matched {
				e.failRecv(r, err)
			}
			return
		}
		if s := e.sends.Find(h.Name); s != nil && s.peer == src {
			if !s.matched {
				s.matched = true
				e.counted(from)
			}
			e.failSend(s, err)
		}
	}
}

// counted counts an announced send as matched.
func (e *Engine) counted(peer int) {
	if q := e.peers.At(peer); q.unmatched > 0 {
		q.unmatched--
	}
}

// announce handles PartInit.
func (e *Engine) announce(src int32, h *wire.Header, payload []byte) {
	q := e.peers.At(int(src))
	switch {
	case len(payload) != 8 || h.Arg > math.MaxInt64 || h.Tag < 0 || h.Name == 0:
		e.messages.Refuse(int(src), "it has announced a partitioned send of %d bytes with tag %d", h.Arg, h.Tag)
		return
	case q.announced == unmatchedMax:
		e.messages.Refuse(int(src), "it has announced more than %d partitioned sends", unmatchedMax)
		return
	}
	key := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
	o := offer{name: h.Name, total: h.Arg, parts: binary.LittleEndian.Uint64(payload), code: h.Aux}
	if n := e.table.Arrive(key); n != nil {
		e.match(n.Owner, &o)
		return
	}
	m := &announced{offer: o}
	m.node.Key, m.node.Owner = key, m
	e.table.Add(&m.node)
	q.announced++
}

// findData returns the receive of a PartData frame, nil if there is none that expects it.
func (e *Engine) findData(src int32, h *wire.Header) *Recv {
	r := e.recvs.Find(h.Name)
	if r == nil || r.peer != src || !r.active || !r.matched {
		return nil
	}
	if total := uint64(r.mem.Len()); h.Arg > total || uint64(h.Size) > total-h.Arg || int(h.Size) > r.mem.Len()-r.received {
		return nil
	}
	return r
}

// dataArrived counts the bytes of a frame, which are in the buffer.
func (e *Engine) dataArrived(r *Recv, h *wire.Header) {
	arrive(r.block, r.size, int(h.Arg), int(h.Arg)+int(h.Size))
	r.received += int(h.Size)
	if r.received == r.mem.Len() {
		e.finishRecv(r, nil)
	}
}

// Place implements fabric.Sink: data go from the socket to the buffer.
func (e *Engine) Place(from int, h *wire.Header) []byte {
	if h.Kind != wire.PartData || e.table == nil {
		return nil
	}
	r := e.findData(int32(from), h)
	if r == nil {
		return nil
	}
	b, contiguous := r.mem.Bytes()
	if !contiguous || !e.canWrite(r, int(h.Arg), int(h.Size)) {
		return nil
	}
	e.peers.At(from).placed = r
	return b[h.Arg : h.Arg+uint64(h.Size)]
}

// Placed implements fabric.Sink.
func (e *Engine) Placed(from int, h *wire.Header) {
	q := e.peers.At(from)
	if r := q.placed; r != nil {
		q.placed = nil
		if r.active {
			e.dataArrived(r, h)
		}
	}
}

// tellFailure tells a process that a request of it ends with an error.
func (e *Engine) tellFailure(to int32, name uint64, flags uint8, err error) {
	c := err.(*class.Error)
	e.tell(to, wire.Header{Kind: wire.PartFail, Flags: flags, Name: name, Aux: uint32(c.Class)}, []byte(c.Text[:min(len(c.Text), textMax)]))
}

// fail ends s with an error, and its receive.
func (e *Engine) fail(s *Send, err error) {
	e.failSend(s, err)
	if s.matched {
		e.tellFailure(s.peer, s.remote, wire.ToReceive, err)
	}
}
