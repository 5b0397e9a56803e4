package check

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/op"
)

// memberOf is rank 0 of a window of two whose members check, over memory.
type memberOf struct {
	Host // the methods that no test calls
	comm comm.Comm
	mem  []byte
}

func (m *memberOf) Comm() *comm.Comm       { return &m.comm }
func (m *memberOf) Unit(int) int64         { return 1 }
func (m *memberOf) Ask(int, []byte) []byte { return nil }
func (m *memberOf) QuestionMax(int) int    { return 1 << 16 }
func (m *memberOf) Memory(off uint64, n int64) ([]byte, error) {
	if off > uint64(len(m.mem)) || uint64(n) > uint64(len(m.mem))-off {
		return nil, errors.New("outside")
	}
	return m.mem[off : off+uint64(n)], nil
}

// checked returns the checker of a window over mem.
func checked(mem []byte) *Window {
	return New(new(sync.Mutex), &memberOf{comm: comm.Comm{Members: []int32{0, 1}}, mem: mem}, false, Locator{})
}

// ask returns the text of a question about an access.
func ask(q question, c entry, list ...span) []byte {
	return encodeSpans(c.encode([]byte{byte(q)}), list)
}

// putOf returns the entry of a put of a rank.
func putOf(origin int32) entry {
	return entry{call: Call{Name: "Put", Site: "main.go:1"}, origin: origin, kind: Put, epoch: Lock}
}

// RC-10: Answer gives the verdict of the rules. The answer to a conflict contains the access in the
// log. An access of the same origin after an ordering point does not conflict.
func TestRC10_AnswersSayWhatConflicts(t *testing.T) {
	sum := func(origin int32, typ op.Type) entry {
		return entry{call: Call{Name: "Accumulate", Site: "main.go:2"}, origin: origin, kind: Accumulate, epoch: Lock, op: op.Sum, typ: typ, segment: 1}
	}
	get := entry{call: Call{Name: "Get", Site: "main.go:3"}, kind: Get, epoch: Lock, segment: 1}
	later := putOf(0)
	later.segment = 2
	earlier := later
	earlier.segment = 1
	fenced := putOf(0)
	fenced.epoch = Fence
	next := fenced
	next.fences = 1
	for _, x := range []struct {
		name        string
		first, then entry
		from        int // the rank that asks
		at          span
		want        verdict
	}{
		{"two puts", putOf(0), putOf(1), 1, span{7, 9}, conflicting},
		{"two puts side by side", putOf(0), putOf(1), 1, span{8, 16}, noConflict},
		{"two gets", get, get, 1, span{0, 8}, noConflict},
		{"a put and a get", putOf(0), get, 1, span{0, 8}, conflicting},
		{"two sums", sum(0, op.Int64), sum(1, op.Int64), 1, span{0, 8}, noConflict},
		{"two sums of other elements", sum(0, op.Int64), sum(1, op.Int32), 1, span{0, 8}, conflicting},
		{"two sums of elements between each other", sum(0, op.Int64), sum(1, op.Int64), 1, span{4, 12}, conflicting},
		{"puts of one origin", earlier, earlier, 0, span{0, 8}, conflicting},
		{"puts of one origin, an ordering point between", earlier, later, 0, span{0, 8}, noConflict},
		{"puts of one origin and another one", earlier, later, 1, span{0, 8}, conflicting},
		{"puts between two fences", fenced, fenced, 1, span{0, 8}, conflicting},
		{"puts with a fence between", fenced, next, 1, span{0, 8}, noConflict},
		{"puts in other epochs", fenced, putOf(1), 1, span{0, 8}, noConflict},
	} {
		w := checked(make([]byte, 64))
		if answer, ok := w.Answer(0, ask(askAccess, x.first, span{0, 8})); !ok || verdict(answer[0]) != noConflict {
			t.Fatalf("%s: the first is answered with %x", x.name, answer)
		}
		answer, ok := w.Answer(x.from, ask(askAccess, x.then, x.at))
		if !ok || verdict(answer[0]) != x.want {
			t.Errorf("%s: the answer is %x, want %d", x.name, answer, x.want)
			continue
		}
		if x.want == conflicting {
			other, rest, ok := decodeEntry(answer[1:], 2)
			if !ok || other.call != x.first.call || other.origin != 0 {
				t.Errorf("%s: the conflict is with %+v", x.name, other)
			}
			if where, ok := decodeSpans(rest); !ok || len(where) != 1 || where[0] != x.at.overlap(span{0, 8}) {
				t.Errorf("%s: the conflict is on %v", x.name, where)
			}
		}
	}
}

// S5: an invalid question is refused, and does not change log and memory.
func TestS5_QuestionsThatMeanNone(t *testing.T) {
	good := ask(askAccess, putOf(1), span{0, 8})
	with := func(at int, v byte) []byte {
		b := bytes.Clone(good)
		b[1+at] = v
		return b
	}
	accumulate := putOf(1)
	accumulate.kind, accumulate.op, accumulate.typ = Accumulate, op.Sum, op.Int64
	wrongOp, noType := accumulate, accumulate
	wrongOp.op, noType.typ = 200, 0xffff
	questions := map[string][]byte{
		"nothing": {}, "a question alone": good[:1], "half an entry": good[:20], "half a text": good[:1+entrySize+4], "half a span": good[:len(good)-3],
		"no question": append([]byte{0}, good[1:]...), "an unknown question": append([]byte{byte(askPlace) + 1}, good[1:]...),
		"a rank that is not": with(0, 2), "a negative rank": with(3, 0x80), "an unknown kind": with(4, byte(Store)+1),
		"a load": with(4, byte(Load)), "a store": with(4, byte(Store)), "an unknown epoch": with(5, byte(Lock)+1),
		"unknown flags": with(7, 4), "a long name": with(entrySize-2, nameMax+1), "a long site": with(entrySize-1, siteMax+1),
		"an empty span": ask(askAccess, putOf(1), span{8, 8}), "a span that is turned round": ask(askAccess, putOf(1), span{8, 0}),
		"an operation that is none": ask(askAccess, wrongOp, span{0, 8}), "a type that is none": ask(askAccess, noType, span{0, 8}),
		"too many spans": ask(askForget, putOf(1), make([]span, spansMax+1)...),
	}
	for what, text := range questions {
		mem := bytes.Repeat([]byte{0xa5}, 64)
		w := checked(mem)
		if answer, ok := w.Answer(1, text); ok {
			t.Errorf("%s: the answer is %x", what, answer)
		}
		if len(w.entries) != 0 || w.size != 0 {
			t.Errorf("%s: it is in the log: %v", what, w.entries)
		}
		if bytes.Count(mem, []byte{0xa5}) != len(mem) {
			t.Errorf("%s: memory has changed", what)
		}
	}
	w := checked(make([]byte, 64))
	for range 2 {
		if answer, ok := w.Answer(1, good); !ok || verdict(answer[0]) > conflicting {
			t.Errorf("a question that is right is answered with %x", answer)
		}
	}
	if w.size != 1 {
		t.Errorf("%d accesses are in the log, want one: the other conflicts with it", w.size)
	}
}

// S6: an access in the name of another rank counts as an access of the sender.
func TestS6_QuestionsInTheNameOfOthers(t *testing.T) {
	w := checked(make([]byte, 64))
	if _, ok := w.Answer(1, ask(askAccess, putOf(0), span{0, 8})); !ok {
		t.Error("it is refused")
	}
	for c := range w.entries {
		if c.origin != 1 {
			t.Errorf("rank 1 has asked in the name of %d", c.origin)
		}
	}
}

// FuzzQuestions uses random bytes as questions and as answers: no memory is accessed, the log stays
// bounded and consistent, and the description of an entry is printable (S5).
func FuzzQuestions(f *testing.F) {
	for q := question(0); q <= askPlace+1; q++ {
		f.Add(ask(q, putOf(1), span{0, 8}, span{16, 24}), uint8(0))
		f.Add(ask(q, putOf(0), span{1 << 63, 1<<64 - 1}), uint8(3))
	}
	long := putOf(1)
	long.call = Call{Name: strings.Repeat("n", nameMax), Site: strings.Repeat("\x00s", siteMax/2), PC: 1 << 40}
	long.kind, long.op, long.typ, long.request = Accumulate, op.Sum, op.Int64, true
	f.Add(ask(askAccess, long, span{3, 11}), uint8(9))
	f.Fuzz(func(t *testing.T, text []byte, cut uint8) {
		mem := bytes.Repeat([]byte{0xa5}, 64)
		w := checked(mem)
		for range 3 {
			w.Answer(1, text)
			w.Answer(1, ask(askAccess, putOf(1), span{uint64(cut), uint64(cut) + 8}))
			spans := 0
			for c, s := range w.entries {
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
			if spans != w.size || spans > loggedMax {
				t.Fatalf("%d spans are in the log, it says %d", spans, w.size)
			}
		}
		if len(text) > 0 {
			if c, rest, ok := decodeEntry(text[1:], 2); ok {
				list, whole := decodeSpans(rest)
				if err := fmt.Sprint(w.conflictError(1, &c, &c, span{0, 8})); strings.ContainsAny(err, "\x00\x1b") || whole && len(list) > spansMax {
					t.Fatalf("%q", err)
				}
			}
			w.notAttachedError(&Pending{w: w, target: 1}, text[1:])
		}
		if bytes.Count(mem, []byte{0xa5}) != len(mem) {
			t.Fatal("memory has changed")
		}
	})
}
