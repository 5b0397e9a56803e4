package serve

import (
	"encoding/binary"
	"math"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// takePut carries out a put.
func (s *Server) takePut(from int, w *Window, h *wire.Header, data []byte) {
	if runsIn(h) == 0 {
		r, at, err := w.Place(h.Arg, int64(len(data)))
		if err != nil {
			s.deny(from, w, h, w.fault(h, uint64(len(data)), err))
			return
		}
		r.Put(at, data)
		s.acknowledge(from, h)
		return
	}
	blocks, data, ok := s.scatter(from, w, h, data, 1)
	if !ok {
		return
	}
	total := int64(0)
	for i := range blocks {
		total += blocks[i].n
	}
	if total != int64(len(data)) {
		s.link.Refuse(from, "it has put %d bytes where there are %d", len(data), total)
		return
	}
	for _, b := range blocks {
		b.region.Put(b.at, data[:b.n])
		data = data[b.n:]
	}
	s.acknowledge(from, h)
}

// takeAccumulate carries out an accumulate, fetch-and-op or get-accumulate.
func (s *Server) takeAccumulate(from int, w *Window, h *wire.Header, data []byte) {
	o, t, ok := operation.ParseAccumulate(h.Aux)
	asks := h.Flags&wire.WithResult != 0
	size := int64(t.Size())
	switch {
	case !ok || size == 0 || !o.Accumulates(t) || o == op.NoOp && !asks:
		s.link.Refuse(from, "it has accumulated with operation %d on type %d", o, t)
		return
	case asks && !s.Admits(from):
		return
	}
	if runsIn(h) != 0 {
		s.takeScattered(from, w, h, data, o, t, asks)
		return
	}
	n := int64(len(data))
	if o == op.NoOp {
		n, data = s.length(from, data), nil
		if n < 0 {
			return
		}
	}
	if n == 0 || n%size != 0 || n > wire.MaxPayload {
		s.link.Refuse(from, "it has accumulated %d bytes of elements of %d", n, size)
		return
	}
	r, at, err := w.Place(h.Arg, n)
	switch {
	case err != nil:
		s.deny(from, w, h, w.fault(h, uint64(n), err))
	case !asks:
		r.Accumulate(at, o, t, data, nil)
		s.acknowledge(from, h)
	default:
		to := s.newReply()
		old := to.room(int(n))
		if n == size {
			r.FetchOp(at, o, t, data, old)
		} else {
			r.Accumulate(at, o, t, data, old)
		}
		s.answer(from, h, to, old)
	}
}

// takeScattered carries out an accumulate on several blocks.
func (s *Server) takeScattered(from int, w *Window, h *wire.Header, data []byte, o op.Op, t op.Type, asks bool) {
	blocks, data, ok := s.scatter(from, w, h, data, int64(t.Size()))
	if !ok {
		return
	}
	total := int64(0)
	for i := range blocks {
		total += blocks[i].n
	}
	if o == op.NoOp && len(data) != 0 || o != op.NoOp && total != int64(len(data)) {
		s.link.Refuse(from, "it has accumulated %d bytes where there are %d", len(data), total)
		return
	}
	var to *reply
	var old []byte
	if asks {
		to = s.newReply()
		old = to.room(int(total))
	}
	pos := int64(0)
	for _, b := range blocks {
		var with, before []byte
		if o != op.NoOp {
			with = data[pos : pos+b.n]
		}
		if asks {
			before = old[pos : pos+b.n]
		}
		b.region.Accumulate(b.at, o, t, with, before)
		pos += b.n
	}
	if asks {
		s.answer(from, h, to, old)
	} else {
		s.acknowledge(from, h)
	}
}

// takeCompare carries out a compare-and-swap.
func (s *Server) takeCompare(from int, w *Window, h *wire.Header, data []byte) {
	t, ok := operation.ParseCompare(h.Aux)
	size := t.Size()
	if !ok || runsIn(h) != 0 || size == 0 || size > 16 || len(data) != 2*size {
		s.link.Refuse(from, "it has compared elements of type %d with %d bytes", t, len(data))
		return
	}
	if !s.Admits(from) {
		return
	}
	r, at, err := w.Place(h.Arg, int64(size))
	if err != nil {
		s.deny(from, w, h, w.fault(h, uint64(size), err))
		return
	}
	to := s.newReply()
	old := to.room(size)
	r.CompareSwap(at, size, data[size:], data[:size], old)
	s.answer(from, h, to, old)
}

// takeGet begins to answer a get.
func (s *Server) takeGet(from int, w *Window, h *wire.Header, payload []byte) {
	if !s.Admits(from) {
		return
	}
	if runsIn(h) == 0 {
		n := s.length(from, payload)
		if n == 0 {
			s.link.Refuse(from, "it has asked for no bytes")
		} else if n > 0 {
			g := pendingGet{window: h.Ctx, off: h.Arg, size: n, name: h.Name}
			if h.Flags&wire.ThenNotify != 0 {
				g.notice = uint32(h.Counter()) + 1
				if planted.NoticeEarly {
					s.countFor(w, &g)
					g.notice = 0
				}
			}
			s.queueGet(from, g)
		}
		return
	}
	blocks, rest, ok := s.scatter(from, w, h, payload, 1)
	if !ok {
		return
	}
	if len(rest) != 0 {
		s.link.Refuse(from, "it has asked for data and sent %d bytes of some", len(rest))
		return
	}
	total := int64(0)
	for i := range blocks {
		total += blocks[i].n
	}
	to := s.newReply()
	data := to.room(int(total))
	pos := int64(0)
	for _, b := range blocks {
		b.region.Get(b.at, data[pos:pos+b.n])
		pos += b.n
	}
	s.answer(from, h, to, data)
	if h.Flags&wire.ThenNotify != 0 && w.whole(from, h) {
		s.host.Count(w, h.Counter())
	}
}

// length reads the number of bytes that a frame asks for, -1 if it has none.
func (s *Server) length(from int, payload []byte) int64 {
	if len(payload) == 8 {
		if n := binary.LittleEndian.Uint64(payload); n <= math.MaxInt64 {
			return int64(n)
		}
	}
	s.link.Refuse(from, "it has asked for data by %d bytes that tell no length", len(payload))
	return -1
}

// block is a piece of memory that a frame accesses.
type block struct {
	region *apply.Region
	at, n  int64
}

// scatter finds the memory that the runs in front of a payload describe, and returns the rest of
// the payload. It reports false, and has answered, if there are no runs, if some of the memory is
// not there, or if it is more than a frame may access. The result is valid until the next call.
func (s *Server) scatter(from int, w *Window, h *wire.Header, payload []byte, element int64) ([]block, []byte, bool) {
	n := runsIn(h)
	if n < 0 || n > operation.RunsMax || len(payload) < n*operation.RunSize {
		s.link.Refuse(from, "it has sent %d runs in %d bytes", n, len(payload))
		return nil, nil, false
	}
	blocks, limit := s.pieces[:0], int64(wire.MaxPayload)
	for i := range n {
		r := operation.DecodeRuns(payload, i)
		size, ok := r.Bytes(limit, element)
		if !ok {
			s.link.Refuse(from, "it has sent a run of %d blocks of %d bytes", r.Count, r.Length)
			return nil, nil, false
		}
		limit -= size
		lo, span, ok := r.Reach(h.Arg)
		err := error(errReach)
		if ok {
			err = errReach
			if span <= math.MaxInt64 {
				var region *apply.Region
				var at int64
				region, at, err = w.Place(lo, int64(span))
				if err == nil {
					if r.Stride < 0 {
						at += int64(span) - r.Length
					}
					for k := range r.Count {
						blocks = append(blocks, block{region, at + k*r.Stride, r.Length})
					}
					continue
				}
			}
			if w.Attached != nil { // its blocks may be in several regions
				blocks, err = w.placeEach(blocks, h.Arg, &r)
			}
		}
		if err != nil {
			s.pieces = blocks[:0]
			s.deny(from, w, h, w.fault(h, uint64(size), err))
			return nil, nil, false
		}
	}
	s.pieces = blocks[:0]
	return blocks, payload[n*operation.RunSize:], true
}

// placeEach appends the blocks of a run for which reach has found that they fit into 64 bits.
func (w *Window) placeEach(blocks []block, base uint64, r *operation.Runs) ([]block, error) {
	first, _ := operation.Displaced(base, r.Off)
	for k := range r.Count {
		region, at, err := w.Place(first+uint64(k*r.Stride), r.Length)
		if err != nil {
			return blocks, err
		}
		blocks = append(blocks, block{region, at, r.Length})
	}
	return blocks, nil
}
