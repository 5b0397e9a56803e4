package rma

import (
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

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

// number is small, near the ends of 64 bits, or any.
func (s *script) number(base uint64) uint64 {
	switch s.byte() % 6 {
	case 0, 1:
		return base + uint64(s.byte())
	case 2:
		return base + uint64(s.byte())*8
	case 3:
		return base - uint64(s.byte())
	case 4:
		return 1<<63 + uint64(s.byte()) - 4
	}
	return s.word()
}

// frame is a frame that resembles one of a correct peer, or does not.
func (s *script) frame(w *Window, base uint64) (h wire.Header, payload []byte) {
	h = wire.Header{Kind: wire.WinPut + wire.Kind(s.byte())%(wire.User-wire.WinPut), Flags: s.byte(), Ctx: window, Arg: s.number(base)}
	if h.Flags > 100 {
		h.Flags &= wire.Spanned
	}
	switch s.byte() % 8 {
	case 0:
		h.Ctx = s.number(window)
	case 1, 2:
		h.Tag = int32(s.byte()) % 6
	case 3:
		h.Tag = int32(s.word())
	}
	switch s.byte() % 4 {
	case 0:
		h.Name = s.word()
	case 1:
		h.Name = uint64(s.byte())
	default: // one that the peer knows
		var o *link.Operation
		n := s.byte() % 4
		for x := range to(w).Numbered(0).UnderWay(math.MaxUint64) {
			o = x
			if n == 0 {
				break
			}
			n--
		}
		if o != nil {
			var missing int64
			h.Name, missing = o.Missing()
			if h.Kind == wire.WinReply && s.byte()%2 == 0 {
				h.Ctx = window
				payload = make([]byte, max(0, missing+int64(s.byte()%3)-1))
				h.Size = uint32(len(payload))
				return h, payload
			}
		}
	}
	switch h.Kind {
	case wire.WinAcc:
		types := [...]op.Type{op.Int64, op.Float64, op.Uint8, op.Complex128, op.Pair(op.Int32, op.Int32), op.Float16, 0, 0x3ff}
		h.Aux = aux(op.Op(s.byte()%16), types[s.byte()%8])
	case wire.WinCas:
		types := [...]op.Type{op.Int64, op.Uint8, op.Int32, op.Int128, op.Complex256, 0}
		h.Aux = aux(0, types[s.byte()%6])
	case wire.WinFault, wire.WinGrant:
		h.Aux = uint32(s.byte())
		h.Tag = int32(s.byte() % 24)
	case wire.WinDone:
		h.Arg = uint64(s.byte())
	}
	if s.byte()%16 == 0 {
		h.Aux = uint32(s.word())
	}
	n := int(s.byte())
	if h.Kind == wire.WinSpan {
		n = max(0, n-250)
	}
	if h.Tag > 0 && h.Tag < 6 {
		for range h.Tag {
			r := strided(int64(s.number(0)), int64(s.byte()%33), int64(s.number(0)), int64(s.byte()%9))
			switch s.byte() % 16 {
			case 0:
				r.Length = int64(s.word())
			case 1:
				r.Count = int64(s.word())
			}
			at := len(payload)
			payload = append(payload, make([]byte, operation.RunSize)...)
			r.Encode(payload[at:])
		}
		if s.byte()%4 != 0 && h.Kind != wire.WinSpan { // as much as the runs say, if that is little
			n = 0
			for i := range int(h.Tag) {
				r := operation.DecodeRuns(payload, i)
				if size, ok := r.Bytes(2000, 1); ok {
					n += int(size)
				}
			}
		}
	} else if s.byte()%2 == 0 {
		payload = length(s.number(0))
		n = 0
	} else if s.byte()%2 == 0 {
		n &^= 15
	}
	for range n {
		payload = append(payload, byte(n))
	}
	h.Size = uint32(len(payload))
	return h, payload
}

// access is an operation of the local program.
func (s *script) access(base uint64, buf, result []byte, vector *dtype.Type) operation.Op {
	a := operation.Op{Kind: operation.Kind(s.byte() % 4), Elem: op.Int64, Disp: int64(base + uint64(s.byte())*8)}
	n := int(s.byte()) * 8
	switch a.Kind {
	case operation.Get:
		a.Result = mem.Of(result[:n])
	case operation.CompareAndSwap:
		a.Origin, a.Compare, a.Result = mem.Of(buf[:8]), buf[8:16], mem.Of(result[:8])
		return a
	default:
		a.Origin = mem.Of(buf[:n])
	}
	if a.Kind == operation.Accumulate {
		a.Fn = op.Sum
		if s.byte()%2 == 0 {
			a.Result = mem.Of(result[:n])
			if s.byte()%4 == 0 {
				a.Fn = op.NoOp
			}
		}
	}
	if s.byte()%3 == 0 {
		a.Place = operation.Place{Type: vector, Count: int64(n / 8)}
	}
	return a
}

// S5, S6: no sequence of frames, whatever the local program does meanwhile, panics, writes outside
// the window or a result, makes the engine keep more than its bound for a peer, or keeps an
// operation from ending when its target dies.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 9, 9, 1, 3, 1, 8, 1, 1})
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"))
	for k := range byte(wire.User - wire.WinPut) { // one frame of each kind that is right, and an operation
		f.Add([]byte{k % 2, 8, 0, 3, 1, 1, k, 0, 0, 16, 4, 3, 1, 0, 1, 0, 0, 5, 0, 8})
	}
	contiguous := dtype.Predefined().Type(dtype.Int64)
	vector, err := dtype.Resized(contiguous, 0, 24)
	if err != nil {
		f.Fatal(err)
	}
	vector.Commit()
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &script{data}
		mem, all := guarded(1000)
		flavor, base := Created, uint64(0)
		if s.byte()%2 == 1 {
			flavor, base = Dynamic, uint64(address(mem))
		}
		e, w, fab := withFakePeers(t, flavor, mem)
		fab.chunk = 512 + int(s.byte()%2)*4096
		var reqs []*p2p.Request
		var around [][]byte
		var placing *wire.Header
		down := false
		for len(s.b) > 0 && !down {
			switch s.byte() % 8 {
			case 0, 1, 2: // a whole frame
				if h, payload := s.frame(w, base); placing == nil && h.Check() == nil {
					e.messages.Frame(enemy, &h, payload)
				}
			case 3: // a frame whose payload comes later
				h, payload := s.frame(w, base)
				if placing != nil || h.Check() != nil {
					continue
				}
				if dst := e.messages.Place(enemy, &h); dst == nil {
					e.messages.Frame(enemy, &h, payload)
				} else if len(dst) != int(h.Size) {
					t.Fatalf("place of %d bytes for %d", len(dst), h.Size)
				} else {
					copy(dst, payload)
					placing = &h
				}
			case 4:
				if placing != nil {
					e.messages.Placed(enemy, placing)
					placing = nil
				}
			case 5, 6:
				result, g := guarded(2040)
				a := s.access(base, make([]byte, 2040), result, vector)
				if r := start(e, w, a, s.byte()%2 == 0); r != nil {
					reqs = append(reqs, r)
				}
				around = append(around, g)
			case 7:
				switch s.byte() % 8 {
				case 0, 1:
					fab.full = !fab.full
				case 2:
					e.link.RequestFlushes(&to(w).Target, false)
				case 3:
					e.link.SendComplete(&to(w).Target)
				case 4:
					stranger := wire.Header{Kind: wire.WinPut + wire.Kind(s.byte())%(wire.User-wire.WinPut), Ctx: window, Size: 8, Name: 1}
					e.messages.Frame(2, &stranger, make([]byte, 8))
				case 5:
					down = s.byte()%4 == 0
				case 6: // an epoch in one frame, as Lock, a call and Unlock make it
					result, g := guarded(2040)
					a := s.access(base, make([]byte, 2040), result, vector)
					around = append(around, g)
					if z := &to(w).lazy; !to(w).EpochUnderWay() && a.Size() > 0 && fits(&a, a.Size()) {
						z.operation, z.waits, z.exclusive = e.link.NewOperation(&to(w).Target, 0, &a, uint64(a.Disp), link.Traits{}), w.waiter(call.WinUnlock, to(w)), s.byte()%2 == 0
						e.swapLazy(nil, to(w))
						if !e.launchEpoch(to(w)) {
							e.swapLazy(to(w), nil)
							z.reset()
						}
					}
				default:
					e.p.Progress(-1)
				}
			}
			q := e.server.State(enemy)
			kept, denied, _ := w.incoming.Kept()
			if denied > link.ChannelsMax {
				t.Fatalf("the enemy makes us keep what is denied of %d channels", denied)
			}
			if q.Asked > link.RequestsMax || q.Gets > q.Asked || kept > link.ChannelsMax || len(w.early) > 1 {
				t.Fatalf("the enemy makes us keep %d answers, %d gets and %d faults", q.Asked, q.Gets, kept)
			}
		}
		fab.down(e, enemy)
		for i, r := range reqs {
			if !r.Done() {
				t.Fatalf("operation %d has not ended with its target", i)
			}
		}
		x := e.link.State()
		for range to(w).Numbered(0).UnderWay(math.MaxUint64) {
			t.Fatal("an operation on the dead is under way")
		}
		if x.Queues+x.Coalescing+e.server.State(enemy).Answering+deniedOf(w) != 0 {
			t.Fatal("something is kept of the dead")
		}
		for _, g := range append(around, all) {
			for i := range 64 {
				if g[i] != guard || g[len(g)-1-i] != guard {
					t.Fatal("a frame wrote outside the memory for it")
				}
			}
		}
	})
}
