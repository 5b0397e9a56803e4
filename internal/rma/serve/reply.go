package serve

import (
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// reply is an answer that waits in the send queue. It holds a copy: memory of a window may be freed
// meanwhile.
type reply struct {
	s     *Server
	to    int
	what  replyKind
	page  []byte // of takePage, nil if short is enough
	short [operation.MaxElement]byte
}

// replyKind says which state of the peer a reply in the send queue counts in.
type replyKind uint8

const (
	replyToRequest replyKind = iota // one of the peer's requests
	replyFault                      // peer.telling
	replyPiece                      // peer.piece
)

// newReply returns an empty reply.
func (s *Server) newReply() *reply {
	if n := len(s.free); n > 0 {
		r := s.free[n-1]
		s.free = s.free[:n-1]
		return r
	}
	return &reply{s: s}
}

// room returns memory of the reply for n bytes, at most wire.MaxPayload.
func (r *reply) room(n int) []byte {
	if n <= len(r.short) {
		return r.short[:n]
	}
	r.page = r.s.link.TakePage()
	return r.page[:n]
}

// drop frees a reply.
func (r *reply) drop() {
	s := r.s
	if r.page != nil {
		s.link.GivePage(r.page)
		r.page = nil
	}
	r.what = replyToRequest
	if len(s.free) < link.RequestsMax {
		s.free = append(s.free, r)
	}
}

// Sent implements proc.Sent.
func (r *reply) Sent(error) {
	q := r.s.peers.At(int(r.to))
	switch r.what {
	case replyToRequest:
		q.asked--
	case replyFault:
		q.telling = false
	case replyPiece:
		q.piece = false
	}
	r.drop()
}

// Admits reports whether a peer may make one more request, and takes it down if not.
func (s *Server) Admits(from int) bool {
	if s.peers.At(from).asked < link.RequestsMax {
		return true
	}
	s.link.Refuse(from, "it waits for the answers to more than %d requests", link.RequestsMax)
	return false
}

// answer sends the data for a request.
func (s *Server) answer(from int, h *wire.Header, r *reply, data []byte) {
	s.hdr = wire.Header{Kind: wire.WinReply, Ctx: h.Ctx, Name: h.Name}
	s.give(from, r, data)
}

// acknowledge answers a put or accumulate that is done, if the origin wants an answer.
func (s *Server) acknowledge(from int, h *wire.Header) {
	if h.Flags&wire.Acknowledge != 0 && s.Admits(from) {
		s.answer(from, h, s.newReply(), nil)
	}
}

// give sends a frame with header s.hdr, or leaves it in the send queue; r holds its payload.
func (s *Server) give(to int, r *reply, payload []byte) {
	s.hdr.Size = uint32(len(payload))
	if s.p.Send(to, &s.hdr, payload) {
		r.drop()
		return
	}
	q := s.peers.At(int(to))
	r.to = to
	switch r.what {
	case replyToRequest:
		q.asked++
	case replyFault:
		q.telling = true
	case replyPiece:
		q.piece = true
	}
	s.p.Push(to, &s.hdr, payload, r)
}
