package p2p

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// opened returns the engines of two processes that share memory, with callers that are threads or not.
func opened(t *testing.T, threads bool) [2]*Engine {
	h, boots := nodetest.New(t, 2), boot.Memory(2)
	var engines [2]*Engine
	for i, n := range h.Start(t) {
		p, err := proc.New(boots[i], n, nil, proc.Policy{Loads: 50, Yields: 10, Yield: runtime.Gosched, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		e := New(p)
		p.Start(e, e)
		t.Cleanup(func() { p.Stop() })
		engines[i] = e
	}
	return engines
}

// C gets a record of a communicator if another member shares memory and callers are threads. It leads to
// the records that the engine uses, and C takes the lock by its word.
func TestDescriptorLeadsToWhatTheEngineUses(t *testing.T) {
	if sys.Race {
		t.Skip("under the race detector C gets no records")
	}
	e := opened(t, true)
	c := [2]*comm.Comm{comm.New(e[0].p, 40, 1, []int32{1, 0}), comm.New(e[1].p, 40, 0, []int32{1, 0})}
	d := (*shmfmt.CommRecord)(*(*unsafe.Pointer)(unsafe.Pointer(&[]uintptr{e[0].Descriptor(c[0], nil, true)}[0])))
	if d == nil {
		t.Fatal("there is no record")
	}
	locals := unsafe.Slice((*int32)(d.Locals), 2)
	if d.Ctx != 40 || locals[0] != 1 || locals[1] != -1 {
		t.Errorf("context %d, members at %v", d.Ctx, locals)
	}
	peer := (*shmfmt.PeerRecord)(unsafe.Add(d.Peers, shmfmt.PeerRecordSize))
	if peer.Open != 0 || peer.In.Exists() {
		t.Error("the rings are open before anything was sent")
	}
	if err := e[0].Send(c[0], Standard, 0, []byte("12345678"), 0, 3); err != nil {
		t.Fatal(err)
	}
	if peer.Open != 1 || peer.Armed == nil || peer.Credit.Credit != creditMax-8-messageOverhead || peer.Credit.EagerMax != e[0].p.EagerMax(1) {
		t.Errorf("after a message the record is %+v", peer)
	}
	var in [8]byte
	var s Status
	e[1].Recv(c[1], in[:], 1, 3, &s)
	if s.Err != nil || string(in[:]) != "12345678" {
		t.Error(s, in)
	}
	if err := e[1].Send(c[1], Standard, 0, nil, 1, 4); err != nil {
		t.Fatal(err)
	}
	e[0].Recv(c[0], nil, 0, 4, &s)
	if !peer.In.Exists() || peer.Credit.Allowance != creditMax-messageOverhead || peer.Credit.CreditOwed != messageOverhead {
		t.Errorf("after an answer the record is %+v", peer)
	}

	// The engine waits for a lock that C holds, and says that it wants it.
	word := (*uint32)(unsafe.Pointer(&d.Process.Mutex))
	e[0].p.Lock()
	if *word != 1 {
		t.Errorf("the word of the lock is %d", *word)
	}
	held := make(chan struct{})
	go func() {
		e[0].p.Lock()
		close(held)
		e[0].p.Unlock()
	}()
	for d.Process.Want.Load() == 0 || d.Process.Asleep.Load() == 0 {
		runtime.Gosched()
	}
	e[0].p.Unlock()
	<-held

	// The request of a send of C names the message, if it is one of the last (P2P-15).
	e[0].p.Lock()
	const number = 300
	d.Process.Requests.Recent[number%shmfmt.SentMost] = shmfmt.SentRecord{Ctx: 40, Sequence: 9, Tag: 5, Peer: 1, Number: number}
	if r := e[0].Sent(c[0], number); !r.Done() || !r.Send || r.peer != 1 || r.tag != 5 || r.ctx != 40 || r.sequence != 9 {
		t.Errorf("a send of C is %+v", r)
	}
	if r := e[0].Sent(c[0], number+shmfmt.SentMost); !r.Done() || r.peer != ProcNull {
		t.Errorf("a send that is forgotten is %+v", r)
	}
	e[0].p.Unlock()

	// A peer that has failed is not reached any more.
	e[0].p.Lock()
	e[0].p.Lose(1, errors.New("killed by the test"))
	for peer.Open != 0 || peer.In.Exists() {
		e[0].p.Progress(-1)
	}
	if peer.Credit.Credit != 0 || peer.Credit.EagerMax != -1 {
		t.Errorf("after a failure the record is %+v", peer)
	}
	e[0].p.Unlock()
}

// C gets no record where it must not take the lock, of intercommunicators, or where nobody else shares
// memory.
func TestDescriptorsThatCDoesNotGet(t *testing.T) {
	for _, threads := range []bool{false, true} {
		e := opened(t, threads)[0]
		world, self := comm.New(e.p, 40, 0, []int32{0, 1}), comm.New(e.p, 48, 0, []int32{0})
		inter := comm.New(e.p, 56, 0, []int32{1})
		inter.Inter = &comm.Inter{}
		if got := e.Descriptor(world, nil, true) != 0; got != (threads && !sys.Race) || e.Descriptor(self, nil, true) != 0 || e.Descriptor(inter, nil, true) != 0 {
			t.Errorf("threads %v: a record of the world: %v", threads, got)
		}
		e.Check([]bool{true, true})
		if e.Descriptor(world, nil, true) != 0 {
			t.Error("a record in checking mode")
		}
	}
}
