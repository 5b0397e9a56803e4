package rma

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/wire"
)

// checkedInTheWild is a window whose members check, over size bytes that a test can look around.
func checkedInTheWild(t testing.TB, size int) (e *Engine, w *Window, f *wild, all []byte) {
	t.Helper()
	mem, all := guarded(size)
	e, w, f = inTheWild(t, Created, mem)
	e.Check([]bool{true, true, false})
	w.check = e.checks(w.Comm.Members)
	return e, w, f, all
}

// asking is a question about an access.
func asking(v verb, c claim, list ...span) []byte {
	return encodeSpans(c.encode([]byte{byte(v)}), list)
}

// putOf is a put of a rank, as it is claimed.
func putOf(origin int32) claim {
	return claim{call: Call{Name: "Put", Site: "main.go:1"}, origin: origin, deed: DeedPut, how: standsLock}
}

// told is the verdict of the one answer to a question.
func told(t testing.TB, f *wild) verdict {
	t.Helper()
	sent := f.take()
	if len(sent) != 1 || sent[0].h.Kind != wire.WinCheck || sent[0].h.Flags&wire.Answer == 0 || sent[0].to != enemy || len(sent[0].payload) == 0 {
		t.Fatalf("the answer is %+v", sent)
	}
	return verdict(sent[0].payload[0])
}

// S5: a question in checking mode that means none takes its sender down, and leaves log and
// memory as they are.
func TestS5_QuestionsThatMeanNone(t *testing.T) {
	good := asking(verbAccess, putOf(1), span{0, 8})
	with := func(at int, v byte) []byte {
		b := bytes.Clone(good)
		b[1+at] = v
		return b
	}
	accumulate := putOf(1)
	accumulate.deed, accumulate.op, accumulate.typ = DeedAccumulate, op.Sum, op.Int64
	wrongOp, noType := accumulate, accumulate
	wrongOp.op, noType.typ = 200, 0xffff
	questions := map[string][]byte{
		"nothing": {}, "a verb": good[:1], "half a claim": good[:20], "half a text": good[:1+claimSize+4], "half a span": good[:len(good)-3],
		"no verb": append([]byte{0}, good[1:]...), "an unknown verb": append([]byte{byte(verbWhere) + 1}, good[1:]...),
		"a rank that is not": with(0, 2), "a negative rank": with(3, 0x80), "an unknown deed": with(4, byte(DeedStore)+1),
		"a load": with(4, byte(DeedLoad)), "a store": with(4, byte(DeedStore)), "an unknown epoch": with(5, byte(standsLock)+1),
		"unknown flags": with(7, 4), "a long name": with(claimSize-2, nameMax+1), "a long site": with(claimSize-1, siteMax+1),
		"an empty span": asking(verbAccess, putOf(1), span{8, 8}), "a span that is turned round": asking(verbAccess, putOf(1), span{8, 0}),
		"an operation that is none": asking(verbAccess, wrongOp, span{0, 8}), "a type that is none": asking(verbAccess, noType, span{0, 8}),
		"too many spans": asking(verbForget, putOf(1), make([]span, spansMax+1)...),
	}
	for what, text := range questions {
		e, w, f, all := checkedInTheWild(t, 64)
		hear(e, wire.Header{Kind: wire.WinCheck, Name: 1}, text)
		if len(f.lost) != 1 || len(f.take()) != 0 {
			t.Errorf("%s: %d peers are taken down", what, len(f.lost))
		}
		if len(w.check.claims) != 0 || w.check.logged != 0 {
			t.Errorf("%s: it is in the log: %v", what, w.check.claims)
		}
		untouched(t, all)
	}
	e, w, f, _ := checkedInTheWild(t, 64)
	for range 2 {
		hear(e, wire.Header{Kind: wire.WinCheck, Name: 1}, good)
		if v := told(t, f); v != verdictFine && v != verdictConflict || len(f.lost) != 0 {
			t.Errorf("a question that is right is answered with %d, %d peers are taken down", v, len(f.lost))
		}
	}
	if w.check.logged != 1 {
		t.Errorf("%d accesses are in the log, want one: the other conflicts with it", w.check.logged)
	}
}

// S5, S6: who asks before he could have an answer, or does not check, or where this process
// does not, is taken down; of windows that are not here everything is fine. A claim in the name
// of another rank is one of the sender.
func TestS5_S6_QuestionsOutOfTurn(t *testing.T) {
	good := asking(verbAccess, putOf(0), span{0, 8})
	e, w, f, _ := checkedInTheWild(t, 64)
	hear(e, wire.Header{Kind: wire.WinCheck, Ctx: 999, Name: 1}, []byte{77})
	if v := told(t, f); v != verdictFine || len(f.lost) != 0 {
		t.Errorf("of no window the answer is %d, %d peers are taken down", v, len(f.lost))
	}
	hear(e, wire.Header{Kind: wire.WinCheck, Name: 2}, good)
	for c := range w.check.claims {
		if c.origin != 1 {
			t.Errorf("rank 1 has claimed in the name of %d", c.origin)
		}
	}
	f.take()
	f.full = true // the answer has to wait
	hear(e, wire.Header{Kind: wire.WinCheck, Name: 3}, good)
	hear(e, wire.Header{Kind: wire.WinCheck, Name: 4}, good)
	if len(f.lost) != 1 {
		t.Error("who asks twice at once is not taken down")
	}
	for name, checkers := range map[string][]bool{"he does not check": {true, false, false}, "I do not check": nil} {
		e, w, f, _ := checkedInTheWild(t, 64)
		e.Check(checkers)
		hear(e, wire.Header{Kind: wire.WinCheck, Name: 1}, good)
		if len(f.lost) != 1 || w.check.logged != 0 {
			t.Errorf("%s, and is not taken down", name)
		}
	}
}

// S6: answers that nobody waits for, or to other questions, change nothing; one that means
// nothing is no conflict, and does no harm.
func TestS6_AnswersThatMeanNone(t *testing.T) {
	right := append(putOf(0).encodedAfter(verdictConflict), encodeSpans(nil, []span{{0, 8}})...)
	e, w, f, _ := checkedInTheWild(t, 64)
	hear(e, wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Name: 1}, right)
	q := &e.question
	q.Reset()
	q.About, q.w, q.to, q.open, q.name = q, w, enemy, true, 7
	for _, h := range []wire.Header{{Name: 6}, {Name: 8}, {Name: 7, Ctx: 65}} {
		h.Kind, h.Flags = wire.WinCheck, wire.Answer
		hear(e, h, right)
	}
	if q.Done() || q.answer != nil {
		t.Errorf("the answer to another question is taken for this one: %x", q.answer)
	}
	hear(e, wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Name: 7}, right)
	hear(e, wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Name: 7}, []byte{0}) // a second one
	if !q.Done() || !bytes.Equal(q.answer, right) {
		t.Errorf("the answer is %x", q.answer)
	}
	q.open = false
	if len(f.lost) != 0 {
		t.Errorf("%d peers are taken down for answers", len(f.lost))
	}
}

// encodedAfter is c behind a verdict.
func (c claim) encodedAfter(v verdict) []byte { return c.encode([]byte{byte(v)}) }

// FuzzQuestions feeds questions, and then the same bytes as answers: nothing is accessed, the
// log stays bounded and consistent, and what is told of a claim can be printed (S5).
func FuzzQuestions(f *testing.F) {
	for v := verb(0); v <= verbWhere+1; v++ {
		f.Add(asking(v, putOf(1), span{0, 8}, span{16, 24}), uint8(0))
		f.Add(asking(v, putOf(0), span{1 << 63, 1<<64 - 1}), uint8(3))
	}
	long := putOf(1)
	long.call = Call{Name: strings.Repeat("n", nameMax), Site: strings.Repeat("\x00s", siteMax/2), PC: 1 << 40}
	long.deed, long.op, long.typ, long.request = DeedAccumulate, op.Sum, op.Int64, true
	f.Add(asking(verbAccess, long, span{3, 11}), uint8(9))
	f.Fuzz(func(t *testing.T, text []byte, cut uint8) {
		e, w, fab, all := checkedInTheWild(t, 64)
		for range 3 {
			hear(e, wire.Header{Kind: wire.WinCheck, Name: 1}, text)
			hear(e, wire.Header{Kind: wire.WinCheck, Name: 1}, asking(verbAccess, putOf(1), span{uint64(cut), uint64(cut) + 8}))
			for _, x := range fab.take() {
				if x.h.Kind != wire.WinCheck || x.h.Flags&wire.Answer == 0 {
					t.Fatalf("the answer is %+v", x)
				}
			}
			spans := 0
			for c, s := range w.check.claims {
				if c.origin != 1 || len(s.list) == 0 {
					t.Fatalf("%+v is in the log, with %v", c, s.list)
				}
				spans += len(s.list)
				for i, x := range s.list {
					if x.empty() || i > 0 && s.list[i-1].hi >= x.lo {
						t.Fatalf("the log has %v", s.list)
					}
				}
			}
			if spans != w.check.logged || spans > loggedMax {
				t.Fatalf("%d spans are in the log, it says %d", spans, w.check.logged)
			}
		}
		if len(text) > 0 {
			if c, rest, ok := decodeClaim(text[1:], 2); ok {
				list, whole := decodeSpans(rest)
				c.call.PC = 0 // or the process that has called is asked, and nobody answers here
				if err := fmt.Sprint(to(w).conflict(&c, &c, span{0, 8})); strings.ContainsAny(err, "\x00\x1b") || whole && len(list) > spansMax {
					t.Fatalf("%q", err)
				}
			}
			w.tellOutside(&Pending{t: to(w)}, text[1:])
		}
		untouched(t, all)
	})
}
