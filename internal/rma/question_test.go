package rma

import (
	"bytes"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/rma/check"
	"github.com/halo-mpi/halo/internal/wire"
)

// The verdicts of package check.
const verdictNone, verdictConflict = 0, 1

// checkedWithFakePeers is a window whose members check, over size bytes that a test can look around.
func checkedWithFakePeers(t testing.TB, size int) (e *Engine, w *Window, f *fakeFabric, all []byte) {
	t.Helper()
	mem, all := guarded(size)
	e, w, f = withFakePeers(t, Created, mem)
	e.Check([]bool{true, true, false})
	w.check = w.checker(w.Comm)
	return e, w, f, all
}

// asking is an origin whose questions are kept and not sent.
type asking struct {
	check.Host // what is not called
	comm       comm.Comm
	text       []byte
}

func (a *asking) Comm() *comm.Comm    { return &a.comm }
func (a *asking) QuestionMax(int) int { return 1 << 16 }
func (a *asking) Ask(_ int, text []byte) []byte {
	a.text = bytes.Clone(text)
	return nil
}

// putQuestion is the question of rank 0 about a put of 8 bytes to rank 1.
func putQuestion(t testing.TB) []byte {
	t.Helper()
	a := &asking{comm: comm.Comm{Members: []int32{victim, enemy}}}
	_, err := check.New(new(sync.Mutex), a, false, check.Locator{}).Begin(&check.Access{
		Call: check.Call{Name: "Put", Site: "main.go:1"}, Target: 1, Kind: check.Put, Epoch: check.Lock, Size: 8,
	})
	if err != nil || len(a.text) == 0 {
		t.Fatalf("the question is %x, error %v", a.text, err)
	}
	return a.text
}

// verdictOf is the verdict of the one answer to a question.
func verdictOf(t testing.TB, f *fakeFabric) byte {
	t.Helper()
	sent := f.take()
	if len(sent) != 1 || sent[0].h.Kind != wire.WinCheck || sent[0].h.Flags&wire.Answer == 0 || sent[0].to != enemy || len(sent[0].payload) == 0 {
		t.Fatalf("the answer is %+v", sent)
	}
	return sent[0].payload[0]
}

// S5: a peer whose question is not valid is taken down, and memory stays as it is. A question that is
// valid is answered.
func TestS5_QuestionsThatMeanNone(t *testing.T) {
	good := putQuestion(t)
	for what, text := range map[string][]byte{"nothing": {}, "an unknown question": {77}, "half of one": good[:len(good)-3]} {
		e, w, f, all := checkedWithFakePeers(t, 64)
		deliver(e, wire.Header{Kind: wire.WinCheck, Name: 1}, text)
		if len(f.lost) != 1 || len(f.take()) != 0 {
			t.Errorf("%s: %d peers are taken down", what, len(f.lost))
		}
		if answer, _ := w.check.Answer(1, good); len(answer) == 0 || answer[0] != verdictNone {
			t.Errorf("%s: it is in the log: %x", what, answer)
		}
		untouched(t, all)
	}
	e, _, f, _ := checkedWithFakePeers(t, 64)
	for _, want := range []byte{verdictNone, verdictConflict} {
		deliver(e, wire.Header{Kind: wire.WinCheck, Name: 1}, good)
		if v := verdictOf(t, f); v != want || len(f.lost) != 0 {
			t.Errorf("a question that is right is answered with %d, want %d; %d peers are taken down", v, want, len(f.lost))
		}
	}
}

// S5, S6: a peer that asks before it could have an answer, or does not check, or asks a process that
// does not, is taken down; about windows that are not here every question is answered.
func TestS5_S6_QuestionsOutOfTurn(t *testing.T) {
	good := putQuestion(t)
	e, _, f, _ := checkedWithFakePeers(t, 64)
	deliver(e, wire.Header{Kind: wire.WinCheck, Ctx: 999, Name: 1}, []byte{77})
	if v := verdictOf(t, f); v != verdictNone || len(f.lost) != 0 {
		t.Errorf("of no window the answer is %d, %d peers are taken down", v, len(f.lost))
	}
	f.full = true // the answer has to wait
	deliver(e, wire.Header{Kind: wire.WinCheck, Name: 3}, good)
	deliver(e, wire.Header{Kind: wire.WinCheck, Name: 4}, good)
	if len(f.lost) != 1 {
		t.Error("a peer that asks twice at once is not taken down")
	}
	for name, checkers := range map[string][]bool{"the peer does not check": {true, false, false}, "this process does not check": nil} {
		e, w, f, _ := checkedWithFakePeers(t, 64)
		e.Check(checkers)
		deliver(e, wire.Header{Kind: wire.WinCheck, Name: 1}, good)
		answer, _ := w.check.Answer(1, good)
		if len(f.lost) != 1 || len(answer) == 0 || answer[0] != verdictNone {
			t.Errorf("%s: %d peers are taken down, and the next answer is %x", name, len(f.lost), answer)
		}
	}
}

// S6: answers that nobody waits for, or to other questions, change nothing.
func TestS6_AnswersThatMeanNone(t *testing.T) {
	right := append([]byte{verdictConflict}, putQuestion(t)[1:]...)
	e, w, f, _ := checkedWithFakePeers(t, 64)
	deliver(e, wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Name: 1}, right)
	q := &e.question
	q.Reset()
	q.About, q.w, q.to, q.open, q.name = q, w, enemy, true, 7
	for _, h := range []wire.Header{{Name: 6}, {Name: 8}, {Name: 7, Ctx: 65}} {
		h.Kind, h.Flags = wire.WinCheck, wire.Answer
		deliver(e, h, right)
	}
	if q.Done() || q.answer != nil {
		t.Errorf("the answer to another question is taken for this one: %x", q.answer)
	}
	deliver(e, wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Name: 7}, right)
	deliver(e, wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Name: 7}, []byte{0}) // a second one
	if !q.Done() || !bytes.Equal(q.answer, right) {
		t.Errorf("the answer is %x", q.answer)
	}
	q.open = false
	if len(f.lost) != 0 {
		t.Errorf("%d peers are taken down for answers", len(f.lost))
	}
}
