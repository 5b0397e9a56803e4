package p2p

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// keep takes a message of process 1 as C does, behind all others. number is that of a message that may be
// revoked.
func (c *cSide) keep(e *Engine, ctx uint64, tag int32, number uint64, text string) {
	c.process.Mutex.Lock()
	defer c.process.Mutex.Unlock()
	q := c.process.Requests.Unexpected
	slot := q.High
	q.High++
	q.Used++
	q.Listed++
	m := q.At(slot)
	*m = shmfmt.UnexpectedRecord{Ctx: ctx, Word: 1<<32 | uint64(uint32(tag)), Arg: number, Size: uint32(len(text)), Prev: q.Prev}
	copy(m.Data[:], text)
	if q.Prev == 0 {
		q.Next = slot
	} else {
		q.At(q.Prev).Next = slot
	}
	q.Prev = slot
	c.process.Slow |= shmfmt.SlowUnexpectedByC
	e.peers.At(1).Allowance -= len(text) + messageOverhead
}

// Go finds the messages that C has kept among the unexpected ones, in the order of arrival and before those in the
// rings, whatever it takes the lock for.
func TestMessagesOfC(t *testing.T) {
	if sys.Race {
		t.Skip("under the race detector C gets no records")
	}
	e := opened(t, true)
	c := [2]*comm.Comm{comm.New(e[0].p, 40, 1, []int32{1, 0}), comm.New(e[1].p, 40, 0, []int32{1, 0})}
	e[0].Descriptor(c[0], nil, true)
	process, _ := e[0].p.Shared()
	buf := make([]byte, 100)
	want := func(source int, tag int32, text string, sent int32) {
		t.Helper()
		s := Status{}
		e[0].Recv(c[0], buf, source, tag, &s)
		if s.Err != nil || s.Source != 0 || s.Tag != sent || string(buf[:s.Bytes]) != text {
			t.Fatalf("received %q, status %+v, want %q with tag %d", buf[:s.Bytes], s, text, sent)
		}
	}
	send := func(tag int32, text string) {
		t.Helper()
		if err := e[1].Send(c[1], Standard, 0, []byte(text), 1, tag); err != nil {
			t.Fatal(err)
		}
	}
	left := func(n ...int) {
		t.Helper()
		e[0].p.Lock()
		defer e[0].p.Unlock()
		if u := e[0].table.Unexpected(); !slices.Contains(n, u) || process.Requests.Unexpected.Used != 0 || process.Slow&shmfmt.SlowImport != 0 {
			t.Fatalf("%d messages are unexpected, want %d; %+v, reasons %#x", u, n, process.Requests.Unexpected.QueueHead, process.Slow)
		}
		if q := e[0].peers.At(1); n[0] == 0 && q.Allowance+q.CreditOwed != creditMax {
			t.Fatalf("of the credit %d is left, %d is owed", q.Allowance, q.CreditOwed)
		}
	}

	// There is no queue before the first unexpected message.
	if process.Requests.Unexpected != nil {
		t.Error("there is a queue before it has a use")
	}
	send(1, "first")
	send(2, "second")
	want(0, 2, "second", 2)
	want(0, 1, "first", 1)
	if process.Requests.Unexpected == nil || process.Requests.Receives == nil {
		t.Fatal("after an unexpected message C has no queues")
	}
	left(0)
	side := &cSide{process: process}

	// Receives, in any order, and messages that are still in the ring.
	for i := range 6 {
		side.keep(e[0], 40, int32(3+i%2), 0, fmt.Sprint("kept ", i))
	}
	send(3, "in the ring")
	want(0, 4, "kept 1", 4)
	left(5, 6) // the service may have taken the one in the ring
	want(AnySource, AnyTag, "kept 0", 3)
	want(0, AnyTag, "kept 2", 3)
	want(AnySource, 3, "kept 4", 3)
	want(0, 3, "in the ring", 3)
	want(0, AnyTag, "kept 3", 4)
	want(0, AnyTag, "kept 5", 4)
	left(0)

	// Probes, and matched probes.
	side.keep(e[0], 40, 5, 0, "")
	side.keep(e[0], 40, 6, 0, "0123456789012345678901234567890123456789012345678901234567890123456789ab")
	if _, s, found, err := e[0].Iprobe(c[0], AnySource, AnyTag, false); !found || err != nil || s.Tag != 5 || s.Bytes != 0 {
		t.Errorf("a probe finds %+v, %v, %v", s, found, err)
	}
	m, s, err := e[0].Probe(c[0], 0, 6, true)
	if err != nil || s.Bytes != shmfmt.UnexpectedData {
		t.Fatalf("a probe finds %+v, %v", s, err)
	}
	r := e[0].Imrecv(m, m.Gen, &Envelope{Comm: c[0], Ctx: 40, Peer: 0, Tag: 6}, mem.Of(buf))
	if !r.Done() || r.Status.Bytes != shmfmt.UnexpectedData || string(buf[70:72]) != "ab" {
		t.Errorf("the message of a probe: %+v", r.Status)
	}
	want(0, AnyTag, "", 5)
	left(0)

	// Receives of C that are posted beside are posted in Go.
	side.keep(e[0], 40, 5, 0, "for nobody")
	number, posted := side.post(40, 6, ^uint32(0))
	send(6, "for C  .")
	e[0].p.Lock()
	r, _ = e[0].Received(c[0], number)
	e[0].Wait(r)
	e[0].Free(r)
	e[0].p.Unlock()
	if string(posted) != "for C  ." {
		t.Errorf("a receive of C gets %q", posted)
	}
	want(0, 5, "for nobody", 5)
	left(0)

	// The sender cancels one of several sends. Messages of a collective that is refused are discarded.
	for i := range 3 {
		side.keep(e[0], 40, 7, uint64(i+1), fmt.Sprint("number ", i+1))
	}
	side.keep(e[0], 41, 9, 0, "refused before")
	e[0].p.Lock()
	e[0].Frame(1, &wire.Header{Kind: wire.Revoke, Ctx: 40, Tag: 7, Arg: 2, Name: 1}, nil)
	e[0].Shun(41, 9)
	e[0].p.Unlock()
	side.keep(e[0], 41, 9, 0, "refused after")
	left(2)
	want(0, 7, "number 1", 7)
	want(0, 7, "number 3", 7)
	left(0)

	// What a process has sent before it failed is received.
	side.keep(e[0], 40, 8, 0, "the last")
	e[0].p.Lose(1, errors.New("killed by the test"))
	e[0].p.Lock()
	for e[0].p.DownCause(1) == nil {
		e[0].p.Progress(-1)
	}
	e[0].p.Unlock()
	want(0, 8, "the last", 8)
	e[0].Recv(c[0], buf, 0, 8, &s)
	if s.Err == nil {
		t.Error("a receive from a process that has failed succeeds")
	}
}
