package p2p

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// alone returns an engine over a scriptedFabric, whose lock is held.
func alone(t *testing.T) (*Engine, *comm.Comm, *scriptedFabric) {
	t.Helper()
	w := &scriptedFabric{}
	p, err := proc.New(boot.Memory(3)[0], nil, w, proc.Policy{Yield: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	p.Lock()
	t.Cleanup(p.Unlock)
	return New(p), comm.New(p, ctx, 0, []int32{0, 1, 2}), w
}

// An answer to a send whose announcement is still in the send queue is ignored: if it
// completed the request, the queued frame would refer to a request that is reused.
func TestS6_AnswerBeforeTheAnnouncementHasGone(t *testing.T) {
	for _, answer := range []wire.Kind{wire.Ack, wire.Clear} {
		for _, size := range []int{100, 5000} { // EagerSync, Ready
			e, c, w := alone(t)
			w.full = true
			r := e.isend(c, ctx, Synchronous, make([]byte, size), 1, 1)
			name := r.handle
			e.Frame(1, &wire.Header{Kind: answer, Name: name, Arg: 1<<32 | 9, Ctx: 100}, nil)
			e.Work()
			if r.Done() || r.phase != phaseReady {
				t.Fatalf("a send of %d bytes that is in the send queue is answered by frame %d: done %t, phase %d", size, answer, r.Done(), r.phase)
			}
			if w.sent != 0 {
				t.Fatalf("%d frames were taken by a fabric that is full", w.sent)
			}
			w.full = false
			e.p.Progress(-1)
			if r.Done() || w.sent != 1 {
				t.Fatalf("a send of %d bytes is done %t after its first frame, of %d", size, r.Done(), w.sent)
			}
			e.Frame(1, &wire.Header{Kind: wire.Ack, Name: name}, nil)
			if !r.Done() || r.Status.Err != nil || e.handles.live != 0 || e.peers.At(1).unanswered != 0 {
				t.Fatalf("a send of %d bytes that is answered: done %t, %v", size, r.Done(), r.Status.Err)
			}
		}
	}
}

// Generations wrap around after 2^32 uses. Generation 0 is left out: a send with handle 0
// would never be answered.
func TestS6_NamesComeRound(t *testing.T) {
	e, c, _ := alone(t)
	e.Take(acknowledgedSend(t, e, c))
	e.handles.slots[0].gen = math.MaxUint32
	for range 3 {
		e.Take(acknowledgedSend(t, e, c))
	}
}

// acknowledgedSend is a synchronous send that the peer has answered.
func acknowledgedSend(t *testing.T, e *Engine, c *comm.Comm) *Request {
	t.Helper()
	r := e.isend(c, ctx, Synchronous, []byte{1}, 1, 1)
	if r.handle == 0 || e.handles.Find(r.handle) != r {
		t.Fatalf("a send that waits for an answer has handle %#x", r.handle)
	}
	e.Frame(1, &wire.Header{Kind: wire.Ack, Name: r.handle}, nil)
	if !r.Done() {
		t.Fatal("an answered send is pending")
	}
	return r
}

// A send fails with class NoMem, in every mode, when as many sends are unanswered as the
// receiver accepts, and succeeds again when there are fewer.
func TestS6_TooManySendsWait(t *testing.T) {
	e, c, _ := alone(t)
	e.unansweredLimit = 5
	e.peers.At(1).Credit = 0
	if err := e.attach(1 << 20); err != nil {
		t.Fatal(err)
	}
	var open []*Request
	for i := range e.unansweredLimit {
		open = append(open, e.isend(c, ctx, Standard, make([]byte, i%2*5000), 1, 1))
	}
	full := func() {
		t.Helper()
		for _, mode := range []Mode{Standard, Synchronous, Buffered} {
			for _, size := range []int{0, 5000} {
				r := e.isend(c, ctx, mode, make([]byte, size), 1, 1)
				var err *class.Error
				if !r.Done() || !errors.As(r.Status.Err, &err) || err.Class != class.NoMem || !strings.Contains(err.Text, "received by rank 1: 5") {
					t.Fatalf("send of %d bytes in mode %d to a rank that has enough: done %t, %v", size, mode, r.Done(), r.Status.Err)
				}
				e.Take(r)
			}
		}
		if e.bsend.used != 0 || len(e.bsend.live) != 0 {
			t.Fatalf("a buffered send that fails holds %d bytes of the buffer", e.bsend.used)
		}
	}
	full()
	if r := e.isend(c, ctx, Standard, make([]byte, 100), 2, 1); r.Status.Err != nil { // other peers are not affected
		t.Fatal(r.Status.Err)
	}
	for i, kind := range []wire.Kind{wire.Ack, wire.Clear} {
		e.Frame(1, &wire.Header{Kind: kind, Name: open[i].handle}, nil)
		e.Work()
		if !open[i].Done() || open[i].Status.Err != nil {
			t.Fatalf("send %d: done %t, %v", i, open[i].Done(), open[i].Status.Err)
		}
		open = append(open, e.isend(c, ctx, Standard, make([]byte, 5000), 1, 1))
		full()
	}
	e.Down(1, errEnd)
	for i, r := range open[2:] {
		if !r.Done() || r.Status.Err == nil {
			t.Errorf("send %d to the dead: done %t, %v", i+2, r.Done(), r.Status.Err)
		}
	}
}

// attach is Attach of the buffer of the process, for a caller that holds the lock.
func (e *Engine) attach(n int) error {
	e.p.Unlock()
	defer e.p.Lock()
	return e.Attach(ProcessBuffer, make([]byte, n))
}

// pair is two engines over the heap.
func pair(t *testing.T) (engines [2]*Engine, comms [2]*comm.Comm) {
	t.Helper()
	w, err := inproc.New(2)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range boot.Memory(2) {
		node, err := w.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		p, err := proc.New(b, node, nil, proc.Policy{Loads: 200, Yields: 50, Yield: runtime.Gosched})
		if err != nil {
			t.Fatal(err)
		}
		engines[i] = New(p)
		p.Start(engines[i], engines[i])
		t.Cleanup(func() { p.Stop() })
		comms[i] = comm.New(p, ctx, i, []int32{0, 1})
	}
	return engines, comms
}

// checkAgreement expects that the counts of both sides agree, after all is received.
func checkAgreement(t *testing.T, engines [2]*Engine) {
	t.Helper()
	look := func(i int) peer {
		e := engines[i]
		e.p.Lock()
		defer e.p.Unlock()
		e.p.Progress(-1)
		return *e.peers.At(1 - i)
	}
	for i := range engines {
		var q, o peer
		for end := time.Now().Add(testrun.Long); time.Now().Before(end); runtime.Gosched() { // the last frames may still arrive
			q, o = look(i), look(1-i)
			if q.peerUnanswered == 0 && o.unanswered == 0 && q.Allowance == creditMax-q.CreditOwed && o.Credit == q.Allowance {
				break
			}
		}
		if q.peerUnanswered != 0 || o.unanswered != 0 || q.Allowance != creditMax-q.CreditOwed || o.Credit != q.Allowance {
			t.Errorf("rank %d has room for %d bytes, owes %d and %d answers; the other has credit %d and waits for %d answers",
				i, q.Allowance, q.CreditOwed, q.peerUnanswered, o.Credit, o.unanswered)
		}
	}
}

// Correct processes never reach the bounds that they enforce on each other: here with round
// trips, which take the fast path of Recv.
func TestS6_RoundTripsKeepCredit(t *testing.T) {
	rounds := 3 * creditMax / messageOverhead
	if testrun.Race {
		rounds /= 2 // still more than one credit is for
	}
	engines, comms := pair(t)
	done := make(chan error, 2)
	for i, e := range engines {
		go func() {
			b := make([]byte, 8)
			for range rounds {
				var s Status
				if i == 0 {
					e.Recv(comms[i], b, 1-i, 1, &s)
				}
				if s.Err == nil {
					s.Err = e.Send(comms[i], Standard, dtype.Mixed, b, 1-i, 1)
				}
				if i == 1 && s.Err == nil {
					e.Recv(comms[i], b, 1-i, 1, &s)
				}
				if s.Err != nil {
					done <- s.Err
					return
				}
			}
			done <- nil
		}()
	}
	for range engines {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	checkAgreement(t, engines)
}

// The same with messages of all kinds, in bursts.
func TestS6_CorrectProcessesAreNeverRefused(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			engines, comms := pair(t)
			done := make(chan error, 2)
			for i, e := range engines {
				e.p.Lock()
				e.unansweredLimit = 40
				e.p.Unlock()
				go func() { done <- converse(e, comms[i], 1-i, rand.New(rand.NewPCG(seed, uint64(i)))) }()
			}
			for range engines {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			checkAgreement(t, engines)
		})
	}
}

// converse sends and receives messages of all kinds, in bursts that go beyond
// credit and limit, and ends when all that both have sent is received.
func converse(e *Engine, c *comm.Comm, peer int, rng *rand.Rand) error {
	const rounds = 60
	const last = 9
	e.p.Lock()
	defer e.p.Unlock()
	crowded, buf := 0, make([]byte, 20_000)
	for round := range rounds {
		var sends []*Request
		size := []int{0, 100, 3000, 7000, 9000, 20_000}[rng.IntN(6)]
		for range rng.IntN(700) {
			mode := Mode(rng.IntN(2))
			r := e.isend(c, ctx, mode, make([]byte, size), peer, int32(rng.IntN(3)))
			if r.Done() && r.Status.Err != nil {
				var err *class.Error
				if !errors.As(r.Status.Err, &err) || err.Class != class.NoMem {
					return r.Status.Err
				}
				crowded++
				e.Take(r)
				continue
			}
			sends = append(sends, r)
		}
		for { // succeeds when the peer has received some
			r := e.isend(c, ctx, Standard, make([]byte, 8), peer, last)
			if !r.Done() || r.Status.Err == nil {
				sends = append(sends, r)
				break
			}
			e.Take(r)
			e.p.Progress(peer)
			e.p.Pause()
		}
		for s := (Status{}); s.Tag != last; { // messages are in order, so the last one ends the round
			if rng.IntN(4) == 0 {
				if r := e.irecv(c, ctx, buf, peer, last+1); true { // nobody sends a message with this tag
					e.Cancel(r)
					e.Take(r)
				}
			}
			r := e.irecv(c, ctx, buf[:rng.IntN(len(buf))], peer, AnyTag)
			e.Wait(r)
			s = r.Status
			e.Take(r)
			var err *class.Error
			if s.Err != nil && (!errors.As(s.Err, &err) || err.Class != class.Truncate) {
				return fmt.Errorf("round %d: %w", round, s.Err)
			}
		}
		for _, r := range sends {
			e.Wait(r)
			if err := e.Take(r); err != nil {
				return fmt.Errorf("round %d: send: %w", round, err)
			}
		}
	}
	if crowded == 0 {
		return errors.New("no send has met the limit: the test does not show what it is to show")
	}
	return nil
}
