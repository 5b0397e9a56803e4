package p2p

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/wire"
)

// flood sends frames until the victim takes the attacker down.
func (s *attackTest) flood(frame func(i int) (wire.Header, []byte)) {
	s.t.Helper()
	bytes := 0
	for i := 0; ; i++ {
		h, payload := frame(i)
		bytes += len(payload) + messageOverhead
		if bytes > 32*creditMax {
			s.t.Fatalf("the victim has taken %d frames, and goes on", i)
		}
		if !s.send(h, payload) || i%64 == 0 && s.cause() != nil {
			return
		}
	}
}

func eager(size int, tag int32) (wire.Header, []byte) {
	return wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: tag}, make([]byte, size)
}

// Messages that the victim does not receive do not fill its memory, whether the payload or
// the record costs more.
func TestS6_EagerBeyondCredit(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 16000} {
		underAttack(t, func(s *attackTest) {
			s.expectDown("beyond its eager credit of 2097152", func() {
				s.flood(func(i int) (wire.Header, []byte) { return eager(size, int32(i%3)) })
			})
			// The messages within the credit can be received.
			e, n := s.engines[victim], 0
			for ; ; n++ {
				m, st, ok, _ := e.Iprobe(s.comms[victim], attacker, AnyTag, true)
				if !ok {
					break
				}
				r := e.Imrecv(m, m.Gen, &Envelope{Comm: s.comms[victim], Ctx: s.comms[victim].Ctx, Peer: attacker, Tag: st.Tag}, mem.Of(make([]byte, size)))
				if st := s.wait(r); st.Err != nil || st.Bytes != uint64(size) {
					t.Fatalf("message %d: %+v", n, st)
				}
			}
			if want := creditMax / (size + messageOverhead); n != want {
				t.Errorf("%d messages of %d bytes are there, want the %d within the credit", n, size, want)
			}
		})
	}
}

// The victim returns credit for what it receives and for nothing else. A sender that has
// used all of it can send again when credit returns, and is taken down for one byte more.
func TestS6_EagerToTheLastByte(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		const size = 4096 - messageOverhead
		s.expectDown("it has sent 128 bytes beyond its eager credit", func() {
			for range creditMax / 4096 {
				s.send(eager(size, 1))
			}
			for range creditMax / 4096 / 2 {
				if st := s.wait(s.irecv(make([]byte, size), attacker, 1)); st.Err != nil {
					t.Fatal(st.Err)
				}
			}
			if h := s.awaitFrames(wire.Credit, 1); h.Arg != creditMax/2 {
				t.Fatalf("%d bytes of credit are given back", h.Arg)
			}
			for range creditMax / 4096 / 2 {
				s.send(eager(size, 1))
			}
			s.checkBounds()
			if err := s.cause(); err != nil {
				t.Fatalf("the attacker is down within its credit: %v", err)
			}
			s.send(eager(0, 1))
		})
	})
}

func TestS6_SynchronousBeyondCredit(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		s.expectDown("beyond its eager credit", func() {
			s.flood(func(i int) (wire.Header, []byte) {
				return wire.Header{Kind: wire.EagerSync, Ctx: ctx, Name: uint64(i + 1)}, make([]byte, 1000)
			})
		})
	})
}

// The number of messages that cost no credit is bounded.
func TestS6_AnnouncementsWithoutEnd(t *testing.T) {
	for _, h := range []wire.Header{
		{Kind: wire.Ready, Ctx: ctx, Arg: 1000},
		{Kind: wire.EagerSync, Flags: wire.Uncredited, Ctx: ctx},
	} {
		underAttack(t, func(s *attackTest) {
			s.engines[victim].unansweredLimit = 100
			s.expectDown("it waits for the answer to more than 100 messages", func() {
				s.flood(func(i int) (wire.Header, []byte) {
					h.Name = uint64(i + 1)
					return h, make([]byte, 8)
				})
			})
		})
	}
}

// Frames that no correct process sends.
func TestS6_ImpossibleFrames(t *testing.T) {
	for _, c := range []struct {
		why     string
		h       wire.Header
		payload int
	}{
		{"257 bytes without eager credit", wire.Header{Kind: wire.EagerSync, Flags: wire.Uncredited, Ctx: ctx, Name: 1}, uncreditedMax + 1},
		{"announced a message of 9223372036854775808 bytes", wire.Header{Kind: wire.Ready, Ctx: ctx, Name: 1, Arg: math.MaxInt64 + 1}, 8},
		{"announced a message of 18446744073709551615 bytes", wire.Header{Kind: wire.Ready, Ctx: ctx, Name: 1, Arg: math.MaxUint64}, 0},
		{"gives no name", wire.Header{Kind: wire.Ready, Ctx: ctx, Arg: 10}, 8},
		{"gives no name", wire.Header{Kind: wire.EagerSync, Ctx: ctx}, 8},
		{"a message with tag -1", wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: -1}, 8},
		{"a message with tag -7", wire.Header{Kind: wire.Ready, Ctx: ctx, Tag: -7, Name: 1}, 8},
		{"a message with tag -2147483648", wire.Header{Kind: wire.Eager, Ctx: ctx + 1, Tag: AnyTag}, 8},
		{"a message with tag -2147483648", wire.Header{Kind: wire.EagerSync, Ctx: ctx + 1, Tag: AnyTag, Name: 1}, 0},
		{"returned 1 bytes of eager credit, and had 0", wire.Header{Kind: wire.Credit, Arg: 1}, 0},
		{"returned 18446744073709551615 bytes", wire.Header{Kind: wire.Credit, Arg: math.MaxUint64}, 0},
		{"kind 9, which is for nobody here", wire.Header{Kind: wire.WinPut, Ctx: ctx}, 8}, // there is no one-sided communication
		{fmt.Sprintf("kind %d, which is for nobody here", wire.WinLeave), wire.Header{Kind: wire.WinLeave, Ctx: ctx}, 0},
		{fmt.Sprintf("kind %d, which is for nobody here", wire.User), wire.Header{Kind: wire.User}, 0},
		{fmt.Sprintf("kind %d", wire.User+1), wire.Header{Kind: wire.User + 1}, 0},
		{"kind 127", wire.Header{Kind: 0x7f}, 100},
		{"kind 254", wire.Header{Kind: 0xfe}, 0},
		{"kind 1", wire.Header{Kind: wire.Eager, Ctx: ctx, Size: wire.MaxPayload + 1}, 0},
		{"kind 5", wire.Header{Kind: wire.Data, Size: math.MaxUint32}, 0},
	} {
		underAttack(t, func(s *attackTest) {
			s.expectDown(c.why, func() {
				if c.h.Kind == wire.Credit { // return the credit of the 8 bytes of expectDown first
					s.send(wire.Header{Kind: wire.Credit, Arg: 8 + messageOverhead}, nil)
				}
				s.send(c.h, make([]byte, c.payload))
			})
		})
	}
}

// The kind by which a ring skips to its start is not a frame.
func TestS6_Padding(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		if _, ring := s.fab.(interface{ Ring(int) }); ring {
			// The ring skips to its start, where the victim reads an older frame.
			s.send(eager(8, 1))
			s.send(wire.Header{Kind: 0xff}, nil)
			s.send(wire.Header{Kind: 0xff}, nil)
			return // whatever the victim reads then, the other processes must not be affected
		}
		s.expectDown("kind 255", func() { s.send(wire.Header{Kind: 0xff}, nil) })
	})
}

// A process sends only on communicators of which it is a member. A wildcard receive has no
// rank for another sender, and a program may use the rank as an index.
func TestS6_MessagesOfIntruders(t *testing.T) {
	for _, h := range []wire.Header{
		{Kind: wire.Eager, Tag: 1}, {Kind: wire.EagerSync, Tag: 1, Name: 1}, {Kind: wire.Ready, Tag: 1, Name: 1, Arg: 8},
	} {
		for _, posted := range []bool{true, false} {
			underAttack(t, func(s *attackTest) {
				h.Ctx = 6
				e := s.engines[victim]
				members := []int32{victim, bystander}
				c := comm.New(e.p, h.Ctx, 0, members)
				var r *Request
				post := func(e *Engine, _ *comm.Comm) *Request { return e.irecv(c, h.Ctx, make([]byte, 8), AnySource, AnyTag) }
				if posted {
					r = s.request(post)
				}
				s.expectDown("a communicator that it is not in", func() {
					s.send(h, make([]byte, 8))
					if !posted {
						s.until("the message is there", func() bool {
							e.p.Lock()
							defer e.p.Unlock()
							return e.table.Unexpected() > 0
						})
						if _, st, ok, err := e.Iprobe(c, AnySource, AnyTag, false); ok || err != nil {
							t.Errorf("a probe finds %+v, %v", st, err)
						}
					}
				})
				if posted {
					if st := s.wait(r); st.Err == nil {
						t.Errorf("a wildcard receives a message of a process that is not in the communicator: %+v", st)
					}
				}
				r = s.request(post) // it receives from members as before
				d := comm.New(s.engines[bystander].p, h.Ctx, 1, members)
				s.must(s.engines[bystander].Send(d, Standard, dtype.Mixed, []byte{5}, victim, 3))
				if st := s.wait(r); st.Err != nil || st.Source != bystander || st.Tag != 3 {
					t.Errorf("the bystander's message: %+v", st)
				}
			})
		}
	}
}

// A message of the largest possible size is truncated like any other.
func TestS6_HugeMessage(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		buf := guarded(1000)
		r := s.irecv(buf[8:1008:1008], attacker, 1)
		s.send(wire.Header{Kind: wire.Ready, Ctx: ctx, Tag: 1, Arg: math.MaxInt64, Name: 5}, make([]byte, 8))
		clear := s.awaitFrames(wire.Clear, 1)
		if clear.Ctx != 1000 || clear.Name != 5 {
			t.Fatalf("the victim asks with %+v", clear)
		}
		s.send(wire.Header{Kind: wire.Data, Name: clear.Arg}, bytes.Repeat([]byte{1}, 1000))
		st := s.wait(r)
		if err, ok := st.Err.(*class.Error); !ok || err.Class != class.Truncate || st.Bytes != 1000 {
			t.Errorf("status %+v", st)
		}
		unharmed(t, buf)
		s.expectPeer()
	})
}

func guarded(n int) []byte {
	b := make([]byte, n+16)
	for i := range b {
		b[i] = guard
	}
	return b
}

func unharmed(t *testing.T, b []byte) {
	t.Helper()
	for i := range 8 {
		if b[i] != guard || b[len(b)-1-i] != guard {
			t.Fatal("a frame wrote outside the receive buffer")
		}
	}
}

// Data frames write only the bytes that Clear asked for, of the request of that Clear, and
// only as many as are missing.
func TestS6_DataForNobodyAndBeyond(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		const size = 1000
		buf := guarded(size)
		r := s.irecv(buf[8:8+size:8+size], attacker, 1)
		other := guarded(size) // the bystander's
		foreign := s.irecv(other[8:8+size:8+size], bystander, 1)
		asked := make(chan error, 1)
		go func() {
			asked <- s.engines[bystander].Send(s.comms[bystander], Standard, dtype.Mixed, make([]byte, 300_000), victim, 2)
		}()
		long := guarded(300_000)
		var held *Message
		s.until("the bystander has announced", func() bool {
			m, _, ok, _ := s.engines[victim].Iprobe(s.comms[victim], bystander, 2, true)
			held = m
			return ok
		})
		s.send(wire.Header{Kind: wire.Ready, Ctx: ctx, Tag: 1, Arg: size, Name: 5}, make([]byte, 8))
		name := s.awaitFrames(wire.Clear, 1).Arg
		data := func(name, at uint64, n int, fill byte) {
			s.send(wire.Header{Kind: wire.Data, Name: name, Arg: at}, bytes.Repeat([]byte{fill}, n))
		}
		for _, n := range []uint64{0, 1, name + 1, name + 1<<32, name - 1<<32, math.MaxUint64} {
			data(n, 0, size, 9)
		}
		for _, at := range []uint64{1, size, size + 1, 1 << 63, math.MaxUint64, math.MaxUint64 - size + 1} {
			data(name, at, size, 9)
		}
		data(name, 0, 600, 1)
		data(name, 300, 600, 9) // more than is missing
		if s.done(r) {
			t.Fatal("complete before all has come")
		}
		data(name, 600, 400, 2)
		data(name, 0, 10, 9) // the receive is complete
		if st := s.wait(r); st.Err != nil || st.Bytes != size {
			t.Errorf("status %+v", st)
		}
		if want := append(bytes.Repeat([]byte{1}, 600), bytes.Repeat([]byte{2}, 400)...); !bytes.Equal(buf[8:8+size], want) {
			t.Error("wrong payload")
		}
		unharmed(t, buf)
		unharmed(t, other)
		s.expectPeer()
		// The bystander's long message is its own.
		l := s.engines[victim].Imrecv(held, held.Gen, &Envelope{Comm: s.comms[victim], Ctx: s.comms[victim].Ctx, Peer: bystander, Tag: 2}, mem.Of(long[8:300_008:300_008]))
		if st := s.wait(l); st.Err != nil {
			t.Error(st.Err)
		}
		s.must(<-asked)
		unharmed(t, long)
		s.must(s.engines[bystander].Send(s.comms[bystander], Standard, dtype.Mixed, make([]byte, size), victim, 1))
		if st := s.wait(foreign); st.Err != nil {
			t.Error(st.Err)
		}
	})
}

// Answers with handles that are stale, of another peer's request, or of a send that waits
// for something else are dropped.
func TestS6_AnswersToNobody(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		mine := s.isend(Standard, make([]byte, 900_000), attacker, 1)
		name := s.awaitFrames(wire.Ready, 1).Name
		theirs := s.isend(Standard, bytes.Repeat([]byte{3}, 900_000), bystander, 1) // not received yet
		receive := s.irecv(make([]byte, 8), attacker, 66)
		names := func() (all []uint64) {
			e := s.engines[victim]
			e.p.Lock()
			defer e.p.Unlock()
			for i, slot := range e.handles.slots {
				all = append(all, uint64(slot.gen)<<32|uint64(i))
			}
			return all
		}
		answers := func(name uint64) {
			s.send(wire.Header{Kind: wire.Ack, Name: name}, nil)
			s.send(wire.Header{Kind: wire.Clear, Name: name, Arg: 7, Ctx: 1 << 40}, nil)
		}
		for _, n := range names() {
			if n != name {
				answers(n)
			}
		}
		for _, n := range []uint64{0, name + 1, name + 1<<32, name - 1<<32, math.MaxUint64, 1 << 31} {
			answers(n)
		}
		s.expectPeer()
		if s.done(mine) || s.done(theirs) || s.done(receive) {
			t.Fatal("an answer to nobody has completed somebody's request")
		}
		// After Clear the send streams: it ignores both answers.
		s.send(wire.Header{Kind: wire.Clear, Name: name, Arg: 7, Ctx: math.MaxUint64}, nil)
		answers(name)
		if st := s.wait(mine); st.Err != nil {
			t.Error(st.Err)
		}
		got := uint64(0)
		s.until("all data have come", func() bool {
			got = 0
			for _, h := range s.received {
				if h.Kind == wire.Data {
					got += uint64(h.Size)
				}
			}
			return got >= 900_000
		})
		answers(name) // stale
		s.expectPeer()
		if got != 900_000 {
			t.Errorf("%d bytes were sent, want 900000", got)
		}
		b := make([]byte, 900_000)
		if st := receiveBy(s.engines[bystander], s.comms[bystander], b, victim, 1); st.Err != nil || b[0] != 3 || b[len(b)-1] != 3 {
			t.Errorf("the bystander's message: %+v", st)
		}
		if st := s.wait(theirs); st.Err != nil {
			t.Error(st.Err)
		}
		s.request(func(e *Engine, _ *comm.Comm) *Request {
			if q := e.peers.At(attacker); q.unanswered != 0 {
				t.Errorf("%d sends wait for an answer, want none", q.unanswered)
			}
			e.Cancel(receive)
			return receive
		})
		s.wait(receive)
	})
}

// A peer that fails in the middle of a message fails its receive, in every protocol.
func TestS6_HalfAMessageThenDeath(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		long := s.irecv(make([]byte, 1000), attacker, 1)
		s.send(wire.Header{Kind: wire.Ready, Ctx: ctx, Tag: 1, Arg: 1000, Name: 5}, make([]byte, 8))
		s.send(wire.Header{Kind: wire.Data, Name: s.awaitFrames(wire.Clear, 1).Arg}, make([]byte, 500))
		s.send(wire.Header{Kind: wire.Ready, Ctx: ctx, Tag: 2, Arg: 1000, Name: 6}, make([]byte, 8)) // nobody receives it
		sync := s.isend(Synchronous, []byte{1}, attacker, 3)
		s.awaitFrames(wire.EagerSync, 1)
		s.kill()
		for _, r := range []*Request{long, sync, s.irecv(make([]byte, 10), attacker, 2)} {
			s.expectFailed(r, "")
		}
		s.checkBounds()
	})
}

// The same in the middle of a frame, on the fabric that delivers parts of frames.
func TestS6_HalfAFrameThenDeath(t *testing.T) {
	for _, matched := range []string{"posted", "short", "unexpected", "taken"} {
		underAttack(t, func(s *attackTest) {
			if s.fab.Name() != "tcp" {
				return
			}
			var r *Request
			switch matched {
			case "posted":
				r = s.irecv(make([]byte, 1000), attacker, 1)
			case "short":
				r = s.irecv(make([]byte, 10), attacker, 1)
			}
			s.send(wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: 1, Size: 1000}, nil)
			e := s.engines[victim]
			if matched == "taken" {
				s.until("half the message is there", func() bool {
					m, _, ok, _ := e.Iprobe(s.comms[victim], attacker, 1, true)
					if ok {
						r = e.Imrecv(m, m.Gen, &Envelope{Comm: s.comms[victim], Ctx: s.comms[victim].Ctx, Peer: attacker, Tag: 1}, mem.Of(make([]byte, 1000)))
					}
					return ok
				})
			} else {
				s.until("half the message is there", func() bool {
					e.p.Lock()
					defer e.p.Unlock()
					return e.peers.At(attacker).placedMessage != nil || e.peers.At(attacker).placedRecv != nil
				})
			}
			s.kill()
			s.until("the death is known", func() bool { return s.cause() != nil })
			if r == nil {
				r = s.irecv(make([]byte, 1000), attacker, 1)
			}
			s.expectFailed(r, "")
			s.checkBounds()
		})
	}
}
