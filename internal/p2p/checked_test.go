package p2p

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/wire"
)

// checking makes all parties of a siege check.
func (s *siege) checking() {
	for _, e := range s.engines {
		e.p.Lock()
		e.Check([]bool{true, true, true})
		e.p.Unlock()
	}
}

// doubles is n of them, and where they are.
func doubles(t testing.TB, n int) ([]byte, *dtype.Buffer) {
	mem := make([]byte, 8*n)
	b, err := dtype.Bind(mem, 0, dtype.Predefined().Type(dtype.Double), int64(n))
	if err != nil {
		t.Fatal(err)
	}
	return mem, &b
}

// irecvDoubles has the victim receive n doubles.
func (s *siege) irecvDoubles(n, source int, tag int32) *Request {
	_, b := doubles(s.t, n)
	return s.request(func(e *Engine, c *comm.Comm) *Request { return e.irecvOf(c, ctx, b, source, tag) })
}

// claims tells of n doubles in a text.
func claims(n int64, text string) []byte {
	c := claim{dtype.Predefined().Type(dtype.Double).Signature(n), text}
	return c.encode()
}

func (s *siege) mismatch(r *Request, text string) {
	s.t.Helper()
	st := s.wait(r)
	var err *class.Error
	if !errors.As(st.Err, &err) || err.Class != class.Type || !strings.Contains(err.Text, text) {
		s.t.Errorf("the receive ends with %v, want class Type and %q", st.Err, text)
	}
}

// What is told of a message is for that one only, whatever else a peer says, and is
// forgotten with the message.
func TestS6_ToldOfOneMessage(t *testing.T) {
	besieged(t, func(s *siege) {
		s.checking()
		odd := claims(1, "odd \x1b[2J\xff things\n")
		odd[16]++ // the hash
		check := wire.Header{Kind: wire.Check}
		for _, posted := range []bool{true, false} {
			first, second := (*Request)(nil), (*Request)(nil)
			post := func() {
				first, second = s.irecvDoubles(1, enemy, 1), s.irecvDoubles(1, enemy, 2)
			}
			if posted {
				post()
			}
			s.speak(check, claims(1, "overtaken"))
			s.speak(check, odd)
			s.speak(eager(8, 1))
			s.speak(eager(8, 2))
			if !posted {
				post()
			}
			s.mismatch(first, "rank 2 sends odd ?[2J? things?, rank 0 receives 1 x MPI_DOUBLE")
			if st := s.wait(second); st.Err != nil {
				t.Error(st.Err)
			}
		}
		// A receive that knows no type compares nothing.
		r := s.irecv(make([]byte, 8), enemy, 1)
		s.speak(check, odd)
		s.speak(eager(8, 1))
		if st := s.wait(r); st.Err != nil {
			t.Error(st.Err)
		}
		s.survives()
		e := s.engines[victim]
		e.p.Lock()
		defer e.p.Unlock()
		if q := &e.told[enemy]; len(e.claims) != 0 || q.texts != 0 || q.claim != nil {
			t.Errorf("%d claims with %d bytes of text are kept, and %v", len(e.claims), q.texts, q.claim)
		}
	})
}

// What no correct process tells takes a peer down; one that does not check hears of
// nothing.
func TestS6_ImpossibleClaims(t *testing.T) {
	negative := claims(1, "")
	negative[7] = 0x80
	bytes := claims(1, "")
	bytes[15] = 0xff
	raw := claims(1, "")
	raw[24] = 2
	for name, payload := range map[string][]byte{
		"nothing": nil, "half": claims(1, "")[:claimHead-1], "long": claims(1, strings.Repeat("x", textMax+1)),
		"negative": negative, "negative bytes": bytes, "raw": raw,
	} {
		t.Run(name, func(t *testing.T) {
			besieged(t, func(s *siege) {
				s.checking()
				s.takenDown("it has told the type of a message", func() { s.speak(wire.Header{Kind: wire.Check}, payload) })
			})
			besieged(t, func(s *siege) {
				s.speak(wire.Header{Kind: wire.Check}, payload)
				s.survives()
			})
		})
	}
	// Numbers that are possible, and mean nothing.
	besieged(t, func(s *siege) {
		s.checking()
		for _, n := range []int64{1, 2, math.MaxInt64} {
			odd := claims(1, "")
			c, _ := decodeClaim(odd)
			c.Elements, c.Hash = n, math.MaxUint64
			r := s.irecvDoubles(1, enemy, 1)
			s.speak(wire.Header{Kind: wire.Check}, c.encode())
			s.speak(eager(8, 1))
			s.mismatch(r, "basic elements in 8 bytes, rank 0 receives 1 x MPI_DOUBLE")
		}
		s.survives()
	})
}

// Nobody fills our memory with texts, neither with those of messages that nobody
// receives, nor with those of none.
func TestS6_TextsWithoutEnd(t *testing.T) {
	besieged(t, func(s *siege) {
		s.checking()
		text := strings.Repeat("x", textMax)
		const messages = 4 * textsMax / textMax
		for i := range messages {
			s.speak(wire.Header{Kind: wire.Check}, claims(1, text))
			if i%2 == 0 {
				s.speak(wire.Header{Kind: wire.Check}, claims(1, text))
			}
			s.speak(eager(8, 1))
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
			texts += len(c.text)
		}
		if len(e.claims) != messages || texts > textsMax || texts != e.told[enemy].texts {
			t.Errorf("%d claims with %d bytes of text, counted are %d", len(e.claims), texts, e.told[enemy].texts)
		}
		e.p.Unlock()
		for range messages {
			if st := s.wait(s.irecvDoubles(1, enemy, 1)); st.Err != nil {
				t.Fatal(st.Err)
			}
		}
		e.p.Lock()
		if q := &e.told[enemy]; len(e.claims) != 0 || q.texts != 0 {
			t.Errorf("%d claims with %d bytes of text are left", len(e.claims), q.texts)
		}
		e.p.Unlock()
		s.survives()
	})
}

// A claim stands directly before its envelope on the wire, however the message goes,
// and messages of collectives have none.
func TestClaimStandsBeforeItsEnvelope(t *testing.T) {
	besieged(t, func(s *siege) {
		s.checking()
		for _, c := range []struct {
			n    int
			mode Mode
			kind wire.Kind
		}{{1, Standard, wire.Eager}, {1, Synchronous, wire.EagerSync}, {50_000, Standard, wire.Ready}} {
			_, b := doubles(t, c.n)
			heard := len(s.heard)
			r := s.request(func(e *Engine, w *comm.Comm) *Request {
				_, one := doubles(t, 1)
				r := e.isendOf(w, ctx+1, Standard, one, enemy, 1)
				e.Release(r)
				return e.isendOf(w, ctx, c.mode, b, enemy, 1)
			})
			s.until("both are sent", func() bool { return len(s.heard) >= heard+3 })
			if got := s.heard[heard:]; got[0].Kind != wire.Eager || got[1].Kind != wire.Check || got[2].Kind != c.kind {
				t.Errorf("%d doubles: frames %+v", c.n, got)
			}
			if c.kind != wire.Eager {
				s.speak(wire.Header{Kind: wire.Ack, Name: s.heard[heard+2].Name}, nil)
			}
			if st := s.wait(r); st.Err != nil {
				t.Error(st.Err)
			}
		}
		// One that does not check is told nothing.
		s.engines[victim].p.Lock()
		s.engines[victim].checkers = []bool{true, true, false}
		s.engines[victim].p.Unlock()
		_, b := doubles(t, 1)
		heard := len(s.heard)
		s.wait(s.request(func(e *Engine, w *comm.Comm) *Request {
			return e.isendOf(w, ctx, Standard, b, enemy, 1)
		}))
		s.until("it is sent", func() bool { return len(s.heard) > heard })
		if got := s.heard[heard:]; got[0].Kind != wire.Eager {
			t.Errorf("frames %+v", got)
		}
	})
}

// Where a payload is still on its way when its envelope is matched, that is where the
// two are compared: with a receive that is there, in memory or in a layout, and with
// one that comes while it arrives.
func TestClaimOfAPayloadInArrival(t *testing.T) {
	besieged(t, func(s *siege) {
		s.checking()
		odd := claims(1, "odd things")
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
			start := func() *Request { return e.irecvOf(s.comms[victim], ctx, b, enemy, 1) }
			var r *Request
			e.p.Lock()
			if how != "late" {
				r = start()
			}
			h := wire.Header{Kind: wire.Eager, Ctx: ctx, Tag: 1, Size: 8}
			e.hear(enemy, odd)
			if dst := e.Place(enemy, &h); len(dst) != 8 {
				t.Errorf("%s: %d bytes are placed", how, len(dst))
			}
			if how == "late" {
				r = start()
			}
			e.Placed(enemy, &h)
			e.p.Unlock()
			s.mismatch(r, "rank 2 sends odd things, rank 0 receives "+receives)
		}
	})
}
