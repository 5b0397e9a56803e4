package p2p

import (
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// scriptedFabric is a fabric that delivers only what the test delivers itself.
type scriptedFabric struct {
	full  bool // refuses frames
	sent  int
	kinds []wire.Kind // of the frames that were sent
	lost  []int       // peers that the engine has taken down, before the call of Down
}

func (w *scriptedFabric) Name() string  { return "scripted" }
func (w *scriptedFabric) EagerMax() int { return 1000 }
func (w *scriptedFabric) ChunkMax() int { return 500 }
func (w *scriptedFabric) Send(to int, h *wire.Header, payload []byte) bool {
	if w.full {
		return false
	}
	if int(h.Size) != len(payload) || h.Check() != nil {
		panic("the engine sends a frame that no receiver takes")
	}
	w.sent++
	w.kinds = append(w.kinds, h.Kind)
	return true
}
func (w *scriptedFabric) Poll(fabric.Sink, int) int { return 0 }
func (w *scriptedFabric) Arm()                      {}
func (w *scriptedFabric) Disarm()                   {}
func (w *scriptedFabric) Sleep()                    {}
func (w *scriptedFabric) Wake()                     {}
func (w *scriptedFabric) Close() error              { return nil }
func (w *scriptedFabric) Lose(peer int, _ error)    { w.lost = append(w.lost, peer) }

// script reads small numbers from the fuzzer's bytes.
type script struct{ b []byte }

func (s *script) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	v := s.b[0]
	s.b = s.b[1:]
	return v
}

func (s *script) word() uint64 {
	var v uint64
	for range 8 {
		v = v<<8 | uint64(s.byte())
	}
	return v
}

// header returns a header that is more or less like one that a peer sends.
func (s *script) header(e *Engine) wire.Header {
	h := wire.Header{
		Kind: wire.Kind(s.byte() % 14), Flags: s.byte() % 4, Size: uint32(s.byte()) * 8,
		Ctx: uint64(s.byte() % 5), Tag: int32(s.byte() % 4),
	}
	if h.Kind >= 12 {
		h.Kind += wire.Revoke - 12
	}
	if v := s.byte(); v < 4 {
		h.Tag = []int32{-1, AnyTag, AnyTag + 1, 1<<31 - 1}[v]
	}
	name := func() uint64 {
		switch v := s.byte(); {
		case v < 128 && len(e.handles.slots) > 0: // one that is in use, as a peer would know it
			i := int(v) % len(e.handles.slots)
			return uint64(e.handles.slots[i].gen)<<32 | uint64(i)
		case v < 192:
			return uint64(v)
		}
		return s.word()
	}
	h.Name = name()
	switch s.byte() % 4 {
	case 0:
		h.Arg = uint64(s.byte())
	case 1:
		h.Arg = name()
	case 2:
		h.Arg = s.word()
	}
	if h.Kind == wire.Clear {
		h.Ctx = uint64(s.byte()) * 40
	}
	return h
}

// payload returns the payload of a frame: zeros, or a claim.
func (s *script) payload(h *wire.Header) []byte {
	if h.Kind != wire.Check {
		return make([]byte, h.Size)
	}
	n := int64(s.byte())
	c := claim{doubleType.Signature(n), true, "main.go:1", "n doubles"}
	switch s.byte() % 4 {
	case 0:
		c.Hash = s.word()
	case 1:
		c.Elements, c.Bytes = int64(s.word()), int64(s.word())
	case 2:
		h.Size = uint32(s.byte())
		return make([]byte, h.Size)
	}
	b := c.encode()
	h.Size = uint32(len(b))
	return b
}

var doubleType = dtype.Predefined().Type(dtype.Double)

const guard = 0xa5

// S6: no sequence of frames, whatever the local program does meanwhile, panics,
// writes outside a receive buffer, uses more credit than there is, or makes the
// engine miscount the credit and the messages of a peer.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x10\x01\x00\x00\x00\x04\x00\x03\x01"))
	f.Add([]byte{3, 1, 0, 2, 1, 0, 0, 0, 0, 4, 1, 0, 2, 1, 0, 0, 0, 0, 5, 5, 5, 2, 9, 1, 200, 0, 2, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &scriptedFabric{}
		b := boot.Memory(3)[0]
		p, err := proc.New(b, nil, w, proc.Policy{Yield: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		e := New(p)
		// Not started: the fuzzer is the only one to deliver.
		c := comm.New(p, 2, 0, []int32{0, 1, 2})
		s := &script{data}
		p.Lock()
		defer p.Unlock()
		var open []*Request
		var guards [][]byte
		var messages []*Message
		placing := [3]*wire.Header{}
		var down [3]bool
		e.unansweredLimit = 3
		if len(data)%2 == 0 {
			e.Check([]bool{true, true, true})
		}
		if len(data)%3 == 0 { // little credit is left
			e.peers.At(1).Allowance, e.peers.At(2).Allowance = 3000, 200
			e.peers.At(1).Credit, e.peers.At(2).Credit = 500, 0
		}
		room := [3]int{0, e.peers.At(1).Allowance, e.peers.At(2).Allowance}
		for len(s.b) > 0 {
			from := 1 + int(s.byte()%2)
			if len(w.lost) > 0 && s.byte()%4 == 0 || down[from] {
				for _, peer := range w.lost {
					down[peer], placing[peer] = true, nil
					e.Down(peer, errEnd)
				}
				w.lost = nil
				if down[1] && down[2] {
					break
				}
				from = 1
				if down[1] {
					from = 2
				}
			}
			switch s.byte() % 12 {
			case 0, 1, 2, 3: // a whole frame
				if placing[from] == nil {
					h := s.header(e)
					if h.Check() == nil {
						e.Frame(from, &h, s.payload(&h))
					}
				}
			case 4: // a frame whose payload comes later
				if placing[from] == nil {
					h := s.header(e)
					if h.Check() != nil {
						continue
					}
					if dst := e.Place(from, &h); dst == nil {
						e.Frame(from, &h, s.payload(&h))
					} else if len(dst) != int(h.Size) {
						t.Fatalf("place of %d bytes for %d", len(dst), h.Size)
					} else {
						clear(dst)
						placing[from] = &h
					}
				}
			case 5:
				if h := placing[from]; h != nil {
					placing[from] = nil
					e.Placed(from, h)
				}
			case 6:
				n := int(s.byte()) * 8
				mem := make([]byte, n+16)
				for i := range mem {
					mem[i] = guard
				}
				guards = append(guards, mem)
				source, tag := int(s.byte()%4)-1, int32(s.byte()%4)
				if tag == 3 {
					tag = AnyTag
				}
				room := mem[8 : 8+n : 8+n]
				switch double, err := dtype.Bind(room, 0, doubleType, int64(n/8)); {
				case err != nil:
					t.Fatal(err)
				case s.byte()%2 == 0:
					open = append(open, e.irecv(c, c.Ctx, room, source, tag))
				default:
					open = append(open, e.irecvOf(c, c.Ctx, &double, source, tag))
				}
			case 7:
				mode := Mode(s.byte() % 2)
				open = append(open, e.isend(c, c.Ctx, mode, make([]byte, int(s.byte())*16), int(s.byte()%3), int32(s.byte()%3)))
			case 8:
				e.Work()
			case 9:
				w.full = !w.full
				p.Progress(-1)
			case 10:
				if len(open) > 0 {
					i := int(s.byte()) % len(open)
					e.Cancel(open[i])
				}
			case 11:
				k := e.key(c, c.Ctx, -1, AnyTag)
				if n := e.table.Probe(k); n != nil {
					e.table.Remove(n)
					messages = append(messages, n.Owner)
				} else if len(messages) > 0 {
					m := messages[0]
					messages = messages[1:]
					r := e.RecvInit(&Envelope{Comm: c, Ctx: c.Ctx, Peer: AnySource, Tag: AnyTag}, mem.Of(make([]byte, int(s.byte())*8)))
					r.Active = true
					e.deliver(r, m)
					open = append(open, r)
				}
			}
			kept := open[:0]
			for _, r := range open {
				if r.Done() && s.byte()%4 != 3 { // a complete request may be cancelled too
					e.Take(r)
				} else {
					kept = append(kept, r)
				}
			}
			open = kept
			for i, q := range e.peers.All() {
				if q.Credit < 0 || q.Credit > creditMax || q.unanswered < 0 {
					t.Fatalf("with %d: credit %d of %d, %d sends unanswered", i, q.Credit, creditMax, q.unanswered)
				}
			}
			for i := 1; i < 3; i++ {
				if !down[i] {
					e.checkCounts(t, int32(i), room[i], placing[i], messages)
				}
			}
		}
		for i := 1; i < 3; i++ {
			if !down[i] {
				e.Down(i, errEnd)
			}
		}
		for _, mem := range guards {
			for i := range 8 {
				if mem[i] != guard || mem[len(mem)-1-i] != guard {
					t.Fatalf("a frame wrote outside a receive buffer of %d bytes", len(mem)-16)
				}
			}
		}
		for _, r := range open {
			if !r.Done() && (r.peer == 1 || r.peer == 2) && (r.Send || r.node.Src > 0) {
				t.Fatalf("a request with dead rank %d is pending: send %t phase %d status %+v", r.peer, r.Send, r.phase, r.Status)
			}
		}
	})
}

// checkCounts compares the engine's counts of a peer with the messages that it holds. room
// is the allowance of the peer at the start; messages are those that a matched probe holds.
func (e *Engine) checkCounts(t *testing.T, peer int32, room int, placing *wire.Header, messages []*Message) {
	q := e.peers.At(int(peer))
	if texts := e.claimTextBytes(peer); e.checkers != nil && e.peerClaims.At(int(peer)).textBytes != texts || texts > textBytesMax {
		t.Fatalf("peer %d: %d bytes of text are kept, more or less than are counted", peer, texts)
	}
	if q.refused {
		if q.Allowance >= 0 {
			t.Fatalf("a peer that is refused has room for %d bytes", q.Allowance)
		}
		return
	}
	held, asked := 0, 0
	count := func(m *Message) {
		if m.node.Src != peer {
			return
		}
		if m.eager && !m.uncredited {
			held += int(m.size) + messageOverhead
		}
		if !m.eager || m.handle != 0 {
			asked++
		}
	}
	for m := range e.table.Messages() {
		count(m.Owner)
	}
	for _, m := range messages {
		count(m)
	}
	if m := q.placedMessage; m != nil && m.receiver != nil {
		count(m)
	}
	if q.placedRecv != nil && placing != nil && placing.Kind != wire.Data {
		if placing.Kind == wire.Eager || placing.Flags&wire.Uncredited == 0 {
			held += int(placing.Size) + messageOverhead
		}
		if placing.Kind == wire.EagerSync {
			asked++
		}
	}
	if q.Allowance != room-held-q.CreditOwed || q.Allowance < 0 {
		t.Fatalf("peer %d: room %d of %d, with %d bytes held and %d owed", peer, q.Allowance, room, held, q.CreditOwed)
	}
	if q.peerUnanswered != asked || asked > e.unansweredLimit+creditMax/messageOverhead {
		t.Fatalf("peer %d waits for %d answers, and is counted to wait for %d", peer, asked, q.peerUnanswered)
	}
}

// claimTextBytes is the length of the texts of a peer's claims.
func (e *Engine) claimTextBytes(peer int32) int {
	n := 0
	for m, c := range e.claims {
		if m.node.Src == peer {
			n += c.textBytes()
		}
	}
	return n
}

type endError struct{}

func (endError) Error() string { return "the end" }

var errEnd = endError{}
