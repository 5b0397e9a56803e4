package p2p

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// cSide posts receives of process 0 from process 1 as C does.
type cSide struct {
	process *shmfmt.ProcessRecord
	buffers [][]byte // reachable as long as the test runs
}

// post posts a receive behind all others, in a record that has not been used. mask is that of the tag.
func (c *cSide) post(ctx uint64, tag int32, mask uint32) (number uint32, buf []byte) {
	c.process.Mutex.Lock()
	defer c.process.Mutex.Unlock()
	q := c.process.Requests.Receives
	slot := q.High
	q.High++
	q.Used++
	buf = make([]byte, 8)
	c.buffers = append(c.buffers, buf)
	number = shmfmt.ReceivesMost + slot
	*q.At(slot) = shmfmt.ReceiveRecord{
		Ctx: ctx, Word: 1<<32 | uint64(uint32(tag)), Mask: 0xffffffff<<32 | uint64(mask), Buffer: unsafe.Pointer(&buf[0]), Room: 8,
		Number: number, State: shmfmt.ReceivePosted, Prev: q.Prev, Source: 0, Tag: tag,
	}
	if q.Prev == 0 {
		q.Next = slot
	} else {
		q.At(q.Prev).Next = slot
	}
	q.Prev = slot
	q.Listed++
	c.process.Slow |= shmfmt.SlowPostedByC
	return number, buf
}

// Go finds the receives that C has posted in its table, in the order of the posts and before its own,
// whatever it takes the lock for. Their requests keep their numbers until they end.
func TestReceivesOfC(t *testing.T) {
	if sys.Race {
		t.Skip("under the race detector C gets no records")
	}
	e := opened(t, true)
	c := [2]*comm.Comm{comm.New(e[0].p, 40, 1, []int32{1, 0}), comm.New(e[1].p, 40, 0, []int32{1, 0})}
	owner := "the owner"
	e[0].Descriptor(c[0], &owner, true)
	process, _ := e[0].p.Shared()
	e[0].p.Lock()
	e[0].makeQueues()
	e[0].p.Unlock()
	side := &cSide{process: process}
	got := func(r *Request, buf []byte, want string, tag int32) {
		t.Helper()
		e[0].Wait(r)
		if s := r.Status; s.Err != nil || s.Source != 0 || s.Tag != tag || s.Bytes != 8 || string(buf) != want {
			t.Errorf("received %q, status %+v, want %q with tag %d", buf, s, want, tag)
		}
		e[0].Free(r)
	}
	message := func(n int, tag int32) string {
		text := fmt.Sprintf("%08d", n)
		if err := e[1].Send(c[1], Standard, 0, []byte(text), 1, tag); err != nil {
			t.Fatal(err)
		}
		return text
	}
	received := func(number uint32) *Request {
		t.Helper()
		r, o := e[0].Received(c[0], number)
		if r == nil || o != any(&owner) {
			t.Fatalf("receive %d of C has request %v of %v", number, r, o)
		}
		if again, _ := e[0].Received(c[0], number); again != r {
			t.Fatalf("receive %d of C has two requests", number)
		}
		return r
	}
	all := ^uint32(0)

	// In the order of the posts, and before receives of Go.
	first, a := side.post(40, 3, all)
	second, b := side.post(40, -2, 0)
	third, d := side.post(40, 3, all)
	e[0].p.Lock()
	if process.Slow&shmfmt.SlowImport != 0 || process.Requests.Receives.Next != 0 {
		e[0].p.Unlock()
		t.Fatal("the lock is taken, and the queue of C is not empty")
	}
	buf := make([]byte, 8)
	last := e[0].Irecv(&Envelope{Comm: c[0], Ctx: 40, Peer: AnySource, Tag: AnyTag}, mem.Of(buf))
	texts := []string{message(1, 3), message(2, 9), message(3, 3), message(4, 3)}
	r := received(first)
	if peer, tag := r.Arguments(); peer != 0 || tag != 3 {
		t.Errorf("the request is that of a receive from %d with tag %d", peer, tag)
	}
	got(r, a, texts[0], 3)
	got(received(second), b, texts[1], 9)
	got(received(third), d, texts[2], 3)
	got(last, buf, texts[3], 3)
	if r, _ := e[0].Received(c[0], first); r != nil {
		t.Errorf("a request that has ended is %+v", r)
	}
	if q := process.Requests.Receives; q.Used != 0 || q.High != 1 || q.Free != 0 {
		t.Errorf("records are in use: %d, %d, %d", q.Used, q.High, q.Free)
	}
	e[0].p.Unlock()

	// A probe does not see the message of a posted receive, and a receive that is cancelled gets none.
	process.Requests.Receives.High = 10
	first, _ = side.post(40, 4, all)
	second, b = side.post(40, 4, all)
	e[0].p.Lock()
	e[0].Cancel(received(first))
	e[0].p.Unlock()
	texts[0] = message(5, 4)
	message(6, 5)
	if _, s, err := e[0].Probe(c[0], 0, AnyTag, false); err != nil || s.Tag != 5 {
		t.Errorf("a probe finds %+v, %v", s, err)
	}
	e[0].p.Lock()
	if r := received(first); !r.Done() || !r.Status.Cancelled {
		t.Errorf("a receive that was cancelled: %+v", r.Status)
	} else {
		e[0].Free(r)
	}
	got(received(second), b, texts[0], 4)
	e[0].p.Unlock()

	// The table is not empty: C posts nothing, and Go receives the message.
	if process.Slow&shmfmt.SlowUnexpected == 0 {
		t.Error("an unexpected message is not told")
	}
	var s Status
	e[0].Recv(c[0], buf, 0, 5, &s)
	if s.Err != nil {
		t.Error(s.Err)
	}

	// A receive that C has completed has a request when Go needs one, also after its communicator has ended.
	for _, ended := range []bool{false, true} {
		process.Requests.Receives.High = 20
		first, a = side.post(40, 6, all)
		rec := process.Requests.Receives.Find(first)
		process.Slow &^= shmfmt.SlowImport
		process.Requests.Receives.Imported()
		rec.State, rec.Bytes = shmfmt.ReceiveComplete, 8
		copy(a, texts[1])
		if ended {
			e[0].CloseDescriptor(c[0])
		}
		e[0].p.Lock()
		r, o := e[0].Received(c[0], first)
		if !r.Done() || (o == nil) != ended || rec.State != shmfmt.ReceiveImported {
			t.Errorf("the request of a receive that is complete: %+v of %v, state %d", r, o, rec.State)
		}
		got(r, a, texts[1], 6)
		e[0].p.Unlock()
	}

	// A posted receive fails with its source.
	e[0].Descriptor(c[0], &owner, true)
	process.Requests.Receives.High = 30
	first, _ = side.post(40, 7, all)
	e[0].p.Lose(1, errors.New("killed by the test"))
	e[0].p.Lock()
	r = received(first)
	e[0].Wait(r)
	if r.Status.Err == nil {
		t.Error("a receive from a process that has failed succeeds")
	}
	e[0].Free(r)
	e[0].p.Unlock()
}

// The watchdog imports receives before it polls: a program that posts receives and then makes no calls has
// them matched in order.
func TestReceivesOfCAreImportedByTheWatchdog(t *testing.T) {
	if sys.Race {
		t.Skip("under the race detector C gets no records")
	}
	e := opened(t, true)
	c := [2]*comm.Comm{comm.New(e[0].p, 40, 1, []int32{1, 0}), comm.New(e[1].p, 40, 0, []int32{1, 0})}
	e[0].Descriptor(c[0], nil, true)
	process, _ := e[0].p.Shared()
	e[0].p.Lock()
	e[0].makeQueues()
	e[0].p.Unlock()
	side := &cSide{process: process}
	var s Status
	for process.Slow&shmfmt.SlowInterrupt != 0 { // until polling mode
		if err := e[1].Send(c[1], Standard, 0, nil, 1, 1); err != nil {
			t.Fatal(err)
		}
		e[0].Recv(c[0], nil, 0, 1, &s)
	}
	side.post(40, 3, ^uint32(0))
	for posted := uint32(1); posted != 0; { // until the watchdog finds that there are no calls
		process.Mutex.Lock()
		posted = process.Slow & shmfmt.SlowImport
		process.Mutex.Unlock()
	}
	e[0].p.Lock()
	defer e[0].p.Unlock()
	if n := e[0].table.Posted(); n != 1 {
		t.Errorf("%d receives are posted", n)
	}
	for n := range e[0].table.Receives() {
		e[0].Cancel(n.Owner)
	}
}
