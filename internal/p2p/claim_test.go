package p2p

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// enableCheck makes all processes check types.
func (s *attackTest) enableCheck() {
	for _, e := range s.engines {
		e.p.Lock()
		e.Check([]bool{true, true, true})
		e.p.Unlock()
	}
}

// doubles returns memory for n doubles, and a buffer over it.
func doubles(t testing.TB, n int) ([]byte, *dtype.Buffer) {
	mem := make([]byte, 8*n)
	b, err := dtype.Bind(mem, 0, dtype.Predefined().Type(dtype.Double), int64(n))
	if err != nil {
		t.Fatal(err)
	}
	return mem, &b
}

// irecvDoubles has the victim receive n doubles.
func (s *attackTest) irecvDoubles(n, source int, tag int32) *Request {
	_, b := doubles(s.t, n)
	return s.request(func(e *Engine, c *comm.Comm) *Request { return e.irecvOf(c, ctx, b, source, tag) })
}

// encodedClaim is the payload of a Check frame for n doubles.
func encodedClaim(n int64, text string) []byte {
	c := claim{dtype.Predefined().Type(dtype.Double).Signature(n), true, "", text}
	return c.encode()
}

func (s *attackTest) expectMismatch(r *Request, text string) {
	s.t.Helper()
	st := s.wait(r)
	var err *class.Error
	if !errors.As(st.Err, &err) || err.Class != class.Type || !strings.Contains(err.Text, text) {
		s.t.Errorf("the receive ends with %v, want class Type and %q", st.Err, text)
	}
}

// A claim is for one message only, whatever other claims a peer sends, and is deleted with
// the message.
func TestS6_ToldOfOneMessage(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		s.enableCheck()
		odd := encodedClaim(1, "odd \x1b[2J\xff things\n")
		odd[16]++ // the hash
		check := wire.Header{Kind: wire.Check}
		for _, posted := range []bool{true, false} {
			first, second := (*Request)(nil), (*Request)(nil)
			post := func() {
				first, second = s.irecvDoubles(1, attacker, 1), s.irecvDoubles(1, attacker, 2)
			}
			if posted {
				post()
			}
			s.send(check, encodedClaim(1, "overtaken"))
			s.send(check, odd)
			s.send(eager(8, 1))
			s.send(eager(8, 2))
			if !posted {
				post()
			}
			s.expectMismatch(first, "rank 2 sends odd ?[2J? things?, rank 0 receives 1 x MPI_DOUBLE")
			if st := s.wait(second); st.Err != nil {
				t.Error(st.Err)
			}
		}
		// A receive without a type compares nothing.
		r := s.irecv(make([]byte, 8), attacker, 1)
		s.send(check, odd)
		s.send(eager(8, 1))
		if st := s.wait(r); st.Err != nil {
			t.Error(st.Err)
		}
		s.expectPeer()
		e := s.engines[victim]
		e.p.Lock()
		defer e.p.Unlock()
		if q := e.peerClaims.At(attacker); len(e.claims) != 0 || q.textBytes != 0 || q.next != nil {
			t.Errorf("%d claims with %d bytes of text are kept, and %v", len(e.claims), q.textBytes, q.next)
		}
	})
}

// A claim that no correct process sends takes its sender down. A process that does not check
// ignores it.
func TestS6_ImpossibleClaims(t *testing.T) {
	negative := encodedClaim(1, "")
	negative[7] = 0x80
	bytes := encodedClaim(1, "")
	bytes[15] = 0xff
	raw := encodedClaim(1, "")
	raw[24] = claimTyped << 1
	for name, payload := range map[string][]byte{
		"nothing": nil, "half": encodedClaim(1, "")[:claimHeadSize-1], "long": encodedClaim(1, strings.Repeat("x", textMax+1)),
		"long place": append(encodedClaim(1, "")[:claimHeadSize-1], callsite.Max+1), "negative": negative, "negative bytes": bytes, "raw": raw,
	} {
		t.Run(name, func(t *testing.T) {
			underAttack(t, func(s *attackTest) {
				s.enableCheck()
				s.expectDown("it has told the type of a message", func() { s.send(wire.Header{Kind: wire.Check}, payload) })
			})
			underAttack(t, func(s *attackTest) {
				s.send(wire.Header{Kind: wire.Check}, payload)
				s.expectPeer()
			})
		})
	}
	// Numbers that are possible but make no sense.
	underAttack(t, func(s *attackTest) {
		s.enableCheck()
		for _, n := range []int64{1, 2, math.MaxInt64} {
			odd := encodedClaim(1, "")
			c, _ := decodeClaim(odd)
			c.Elements, c.Hash = n, math.MaxUint64
			r := s.irecvDoubles(1, attacker, 1)
			s.send(wire.Header{Kind: wire.Check}, c.encode())
			s.send(eager(8, 1))
			s.expectMismatch(r, "basic elements in 8 bytes, rank 0 receives 1 x MPI_DOUBLE")
		}
		s.expectPeer()
	})
}

// The texts of claims do not fill the memory of a process, neither those of messages that
// nobody receives nor those without a message.
func TestS6_TextsWithoutEnd(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		s.enableCheck()
		text := strings.Repeat("x", textMax)
		messages := 4 * textBytesMax / textMax
		if testrun.Race {
			messages = 3 * messages / 8 // still more than there is room for
		}
		for i := range messages {
			s.send(wire.Header{Kind: wire.Check}, encodedClaim(1, text))
			if i%2 == 0 {
				s.send(wire.Header{Kind: wire.Check}, encodedClaim(1, text))
			}
			s.send(eager(8, 1))
		}
		e := s.engines[victim]
		s.until("all are there", func() bool {
			e.p.Lock()
			defer e.p.Unlock()
			return e.table.Unexpected() == messages
		})
		e.p.Lock()
		texts := 0
		for _, c := range e.claims {
			texts += c.textBytes()
		}
		if len(e.claims) != messages || texts > textBytesMax || texts != e.peerClaims.At(attacker).textBytes {
			t.Errorf("%d claims with %d bytes of text, counted are %d", len(e.claims), texts, e.peerClaims.At(attacker).textBytes)
		}
		e.p.Unlock()
		for range messages {
			if st := s.wait(s.irecvDoubles(1, attacker, 1)); st.Err != nil {
				t.Fatal(st.Err)
			}
		}
		e.p.Lock()
		if q := e.peerClaims.At(attacker); len(e.claims) != 0 || q.textBytes != 0 {
			t.Errorf("%d claims with %d bytes of text are left", len(e.claims), q.textBytes)
		}
		e.p.Unlock()
		s.expectPeer()
	})
}

// A claim goes directly before its envelope, with every protocol. Messages of collectives
// have no claims.
func TestClaimStandsBeforeItsEnvelope(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		s.enableCheck()
		for _, c := range []struct {
			n    int
			mode Mode
			kind wire.Kind
		}{{1, Standard, wire.Eager}, {1, Synchronous, wire.EagerSync}, {50_000, Standard, wire.Ready}} {
			_, b := doubles(t, c.n)
			heard := len(s.received)
			r := s.request(func(e *Engine, w *comm.Comm) *Request {
				_, one := doubles(t, 1)
				r := e.isendOf(w, ctx+1, Standard, one, attacker, 1)
				e.Release(r)
				return e.isendOf(w, ctx, c.mode, b, attacker, 1)
			})
			s.until("both are sent", func() bool { return len(s.received) >= heard+3 })
			if got := s.received[heard:]; got[0].Kind != wire.Eager || got[1].Kind != wire.Check || got[2].Kind != c.kind {
				t.Errorf("%d doubles: frames %+v", c.n, got)
			}
			if c.kind != wire.Eager {
				s.send(wire.Header{Kind: wire.Ack, Name: s.received[heard+2].Name}, nil)
			}
			if st := s.wait(r); st.Err != nil {
				t.Error(st.Err)
			}
		}
		// A process that does not check gets no claims.
		s.engines[victim].p.Lock()
		s.engines[victim].checkers = []bool{true, true, false}
		s.engines[victim].p.Unlock()
		_, b := doubles(t, 1)
		heard := len(s.received)
		s.wait(s.request(func(e *Engine, w *comm.Comm) *Request {
			return e.isendOf(w, ctx, Standard, b, attacker, 1)
		}))
		s.until("it is sent", func() bool { return len(s.received) > heard })
		if got := s.received[heard:]; got[0].Kind != wire.Eager {
			t.Errorf("frames %+v", got)
		}
	})
}

// A message whose payload is still arriving is compared when its envelope matches: with a
// posted receive, contiguous or of a layout, and with one that is posted while it arrives.
func TestClaimOfAPayloadInArrival(t *testing.T) {
	underAttack(t, func(s *attackTest) {
		s.enableCheck()
		odd := encodedClaim(1, "odd things")
		odd[16]++ // the hash
		e := s.engines[victim]
		for _, how := range []string{"memory", "layout", "late"} {
			_, b := doubles(t, 1)
			receives := "1 x MPI_DOUBLE"
			if how == "layout" {
				gaps, err := dtype.Resized(b.Type(), 0, 16)
				if err != nil {
					t.Fatal(err)
				}
				gaps.Commit()
				two, err := dtype.Bind(make([]byte, 32), 0, gaps, 2)
				if err != nil {
					t.Fatal(err)
				}
				b, receives = &two, "2 x "
			}
			start := func() *Request { return e.irecvOf(s.comms[victim], ctx, b, attacker, 1) }
			var r *Request
			e.p.Lock()
			if how != "late" {
				r = start()
			}
			h := wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: 1, Size: 8}
			e.receiveClaim(attacker, odd)
			if dst := e.Place(attacker, &h); len(dst) != 8 {
				t.Errorf("%s: %d bytes are placed", how, len(dst))
			}
			if how == "late" {
				r = start()
			}
			e.Placed(attacker, &h)
			e.p.Unlock()
			s.expectMismatch(r, "rank 2 sends odd things, rank 0 receives "+receives)
		}
	})
}
