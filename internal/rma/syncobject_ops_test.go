package rma

import (
	"bytes"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
	"github.com/halo-mpi/halo/internal/wire"
)

// opsBy is a request of a view for operations to the peer, which signals a counter there.
func opsBy(e *Engine, v *View, mode syncobject.Mode, counter int) *opsRequest {
	q := &opsRequest{v: v, t: to(v.w), mode: mode, counter: counter, request: e.messages.NewRequest(v.w.Comm, call.WinSyncOpsInit)}
	e.messages.SetPersistent(q.request, q)
	return q
}

// notified returns how often the peer has counted a signal.
func notified(p *originAndTarget, counter int) int64 {
	for _, w := range p.far.windows {
		return w.counter(counter).Value()
	}
	panic("no window")
}

// SYN-20: long operations that were issued before Start, and those issued between Start and the
// wait, are all complete when the request is: the origin's memory may be reused, and the signal is
// counted after the data of all of them. The request does not wait for those
// issued after the wait has begun.
func TestSYN20_OperationsAroundStartAreIncluded(t *testing.T) {
	const counter, size = 7, 4 * link.QueueTurn
	for seed := range uint64(2) {
		for before := range 3 {
			for after := range 3 {
				p := newPair(t, seed, 5*size)
				v := viewOf(p.w, Options{})
				q := opsBy(p.e, v, syncobject.Put, counter)
				var origins [][]byte
				put := func() {
					data := bytes.Repeat([]byte{byte(len(origins) + 1)}, size)
					issueBy(p.e, v, operation.Op{Kind: operation.Put, Origin: mem.Of(data), Disp: int64(len(origins) * size)}, false)
					origins = append(origins, data)
				}
				for range before {
					put()
				}
				p.e.messages.Start(q.request)
				for range 5 { // no test or wait looks at the request
					p.step()
				}
				if q.request.Done() || notified(p, counter) != 0 {
					t.Fatal("it is complete before a test or wait")
				}
				for range after {
					put()
				}
				q.WaitStarted()
				if n := before + after; n > 0 == q.request.Done() {
					t.Fatalf("seed %d: %d operations are under way, and the request is complete: %v", seed, n, n > 0)
				}
				covered := len(origins)
				put() // behind the wait
				p.until("the request", q.request.Done)
				if q.request.Status.Err != nil {
					t.Fatal(q.request.Status.Err)
				}
				for i := range covered { // the program may change its memory
					for k := range origins[i] {
						origins[i][k] = 0xff
					}
				}
				if n := arrived(p.mem[covered*size:]); n >= size/2 {
					t.Errorf("seed %d: %d of %d bytes of the put behind the wait are there when the request is complete", seed, n, size)
				}
				p.until("the signal", func() bool { return notified(p, counter) > 0 })
				for i := range covered {
					if n := bytes.Count(p.mem[i*size:(i+1)*size], []byte{byte(i + 1)}); n != size {
						t.Fatalf("seed %d, %d before and %d after Start: at the signal %d of the %d bytes of put %d are right", seed, before, after, n, size, i)
					}
				}
				p.until("all", flushBy(p, v).Request.Done)
				if n := notified(p, counter); n != 1 {
					t.Errorf("seed %d: %d signals", seed, n)
				}
			}
		}
	}
}

// SYN-20: operations that an earlier request has covered are not waited for again: while nothing
// comes from the target, which has not even confirmed them, the next request is complete at its
// first look, and sends its signal only. A request for another kind does not take operations away
// from those for theirs.
func TestSYN20_CoveredOperationsAreNotWaitedForAgain(t *testing.T) {
	const first, second, third, size = 5, 6, 7, 4 * link.QueueTurn
	for _, thread := range []bool{false, true} {
		for seed := range uint64(3) {
			p := newPair(t, seed, 2*size)
			v := viewOf(p.w, Options{Thread: thread})
			puts, again := opsBy(p.e, v, syncobject.Put, first), opsBy(p.e, v, syncobject.Put, second)
			gets := opsBy(p.e, v, syncobject.Get, third)
			look := func(q *opsRequest) bool {
				p.e.messages.Start(q.request)
				q.WaitStarted()
				return q.request.Done()
			}
			issueBy(p.e, v, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{7}, size))}, false)
			if look(puts) {
				t.Fatalf("seed %d: a long put is complete at once", seed)
			}
			if !look(gets) {
				t.Fatalf("seed %d: a request for gets waits for a put", seed)
			}
			p.until("the first request", puts.request.Done)
			p.f.full = false
			for { // send what is left, and let the target answer nothing
				p.e.p.Progress(-1)
				p.e.Work()
				sent := p.f.take()
				p.there = append(p.there, sent...)
				if len(sent) == 0 {
					break
				}
			}
			for range 3 {
				if !look(again) {
					t.Fatalf("seed %d: a request waits for operations that the one before has covered", seed)
				}
				for c := range to(p.w).Channels {
					p.e.link.Release(c)
				}
				p.e.p.Progress(-1)
				p.e.Work()
				sent := p.f.take()
				if i := slices.IndexFunc(sent, func(x sentFrame) bool { return x.h.Kind != wire.WinNotify }); len(sent) != 1 || i >= 0 {
					t.Fatalf("seed %d: it sends %+v, want one signal", seed, sent)
				}
				p.there = append(p.there, sent...)
			}
			// Operations since are waited for, and the signal follows them.
			issueBy(p.e, v, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{8}, size)), Disp: size}, false)
			if look(again) {
				t.Fatalf("seed %d: a request is complete, and a put since the last one is not", seed)
			}
			p.until("the last request", again.request.Done)
			p.until("its signal", func() bool { return notified(p, second) == 4 })
			if n := arrived(p.mem); n != 2*size || notified(p, first) != 1 || notified(p, third) != 1 {
				t.Errorf("seed %d: %d of %d bytes, and %d and %d signals at the last one", seed, n, 2*size, notified(p, first), notified(p, third))
			}
		}
	}
}
