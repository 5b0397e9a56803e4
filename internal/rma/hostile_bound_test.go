package rma

import (
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/rma/serve"
	"github.com/halo-mpi/halo/internal/wire"
)

// A peer cannot make this process keep more answers than a correct peer asks for: the memory for a
// peer is bounded, and the requests within the bound are answered when it takes them.
func TestS6_TooManyRequests(t *testing.T) {
	ask := []func(e *Engine, name uint64){
		func(e *Engine, name uint64) { deliver(e, wire.Header{Kind: wire.WinGet, Name: name}, length(700)) },
		func(e *Engine, name uint64) {
			deliver(e, wire.Header{Kind: wire.WinGet, Name: name, Tag: 1}, withRuns(0, strided(0, 8, 16, 50)))
		},
		func(e *Engine, name uint64) {
			deliver(e, wire.Header{Kind: wire.WinAcc, Flags: wire.WithResult, Aux: aux(op.Sum, op.Uint8), Name: name}, []byte{1})
		},
		func(e *Engine, name uint64) {
			deliver(e, wire.Header{Kind: wire.WinCas, Aux: aux(0, op.Uint16), Name: name}, make([]byte, 4))
		},
		func(e *Engine, name uint64) { deliver(e, wire.Header{Kind: wire.WinFlush, Arg: name}, nil) },
		func(e *Engine, name uint64) {
			deliver(e, wire.Header{Kind: wire.WinGet, Name: name, Arg: 5000}, length(1))
		},
		func(e *Engine, name uint64) {
			deliver(e, wire.Header{Kind: wire.WinGet, Name: name, Ctx: 8}, length(1))
		},
		func(e *Engine, name uint64) { deliver(e, wire.Header{Kind: wire.WinFlush, Arg: name, Ctx: 8}, nil) },
		func(e *Engine, name uint64) { deliver(e, wire.Header{Kind: wire.WinLock, Ctx: 8}, nil) },
	}
	for i, one := range ask {
		for _, over := range []bool{false, true} {
			mem := make([]byte, 1000)
			e, _, f := withFakePeers(t, Created, mem)
			f.full = true
			for name := range uint64(link.RequestsMax) {
				one(e, name+1)
			}
			if len(f.lost) != 0 {
				t.Fatalf("case %d: taken down within the bound", i)
			}
			if over {
				one(e, 1000)
				if len(f.lost) != 1 || f.lost[0] != enemy {
					t.Errorf("case %d: goes on beyond the bound", i)
				}
				before := mem[0]
				one(e, 1000)
				if mem[0] != before || before != byte(map[bool]int{i == 2: link.RequestsMax}[true]) {
					t.Errorf("case %d: is served beyond the bound", i)
				}
				f.down(e, enemy)
				if got := e.server.State(enemy); got != (serve.State{}) {
					t.Errorf("case %d: after the end %+v is kept", i, got)
				}
				continue
			}
			f.full = false
			for n := 0; n < 10000 && (e.p.QueuedPeers() > 0 || e.server.State(enemy).Answering > 0); n++ {
				e.p.Progress(-1)
				e.Work()
			}
			if q := e.server.State(enemy); q.Asked != 0 || q.Sending || len(f.sent) < link.RequestsMax {
				t.Errorf("case %d: %d answers were sent, and %+v is kept", i, len(f.sent), q)
			}
			one(e, 1000) // it may ask again
			if len(f.lost) != 0 {
				t.Errorf("case %d: taken down when all is answered", i)
			}
		}
	}
}

// Faults of operations without a request take no memory, however many there are: the first is sent
// at once, one more with the next flush.
func TestS6_FaultsWithoutEnd(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 8))
	f.full = true
	for i := range 100_000 {
		deliver(e, wire.Header{Kind: wire.WinPut, Arg: uint64(i) + 8}, []byte{1})
		deliver(e, wire.Header{Kind: wire.WinPut, Ctx: 8}, []byte{1})
	}
	if e.p.QueuedPeers() != 1 || faultsOf(w) != 1 || e.server.State(enemy).Asked != 0 || len(f.lost) != 0 {
		t.Fatalf("%d faults are kept, %d answers", faultsOf(w), e.server.State(enemy).Asked)
	}
	f.full = false
	e.p.Progress(-1)
	if x := faultOf(t, f, 0); x.Off != 8 {
		t.Errorf("the first fault is %+v", x)
	}
	deliver(e, wire.Header{Kind: wire.WinFlush, Arg: 1}, nil)
	s := f.take()
	if len(s) != 1 || s[0].h.Flags != wire.Faulty || faultsOf(w) != 0 {
		t.Errorf("the flush is answered by %+v", s)
	}
}

// Memory that is detached is not accessed any more, not in the middle of a get either.
func TestS5RW05_DetachedMemory(t *testing.T) {
	mem, all := guarded(2000)
	e, w, f := withFakePeers(t, Dynamic, mem)
	v, addr := newView(w), uint64(address(mem))
	deliver(e, wire.Header{Kind: wire.WinPut, Arg: addr + 1992}, make([]byte, 9))
	if x := faultOf(t, f, 0); x.Class != class.RMARange && x.Class != class.RMAAttach || x.Off != addr+1992 {
		t.Errorf("the fault is %+v", x)
	}
	f.full = true
	deliver(e, wire.Header{Kind: wire.WinGet, Arg: addr, Name: 5}, length(2000)) // begins
	e.p.Unlock()
	if err := v.Detach(addr); err != nil {
		t.Fatal(err)
	}
	e.p.Lock()
	f.full = false
	e.p.Progress(-1)
	e.Work()
	s := f.take()
	if n := len(s); n < 2 || s[n-1].h.Kind != wire.WinFault || s[n-1].h.Name != 5 {
		t.Fatalf("the get is answered by %+v", s)
	}
	for _, h := range []wire.Header{
		{Kind: wire.WinPut, Arg: addr}, {Kind: wire.WinAcc, Arg: addr, Aux: aux(op.Sum, op.Int64)}, {Kind: wire.WinPut, Arg: addr - 8}, {Kind: wire.WinPut},
	} {
		deliver(e, h, make([]byte, 8))
		faultOf(t, f, 0)
	}
	untouched(t, all)
	// Attached again, with other bounds: these count.
	e.p.Unlock()
	if err := v.Attach(mem[:100], nil); err != nil {
		t.Fatal(err)
	}
	e.p.Lock()
	deliver(e, wire.Header{Kind: wire.WinPut, Arg: addr + 92}, make([]byte, 9))
	faultOf(t, f, 0)
	untouched(t, all)
	deliver(e, wire.Header{Kind: wire.WinPut, Arg: addr + 92}, make([]byte, 8))
	if s := f.take(); len(s) != 0 || mem[92] != 0 || mem[100] != guard {
		t.Errorf("a put to what is attached is answered by %+v", s)
	}
}

// The blocks of a layout may be in several regions; each is looked up, and if one is in none, no
// block is accessed.
func TestS5RW05_RunsOverSeveralRegions(t *testing.T) {
	mem, all := guarded(1000)
	e, w, f := withFakePeers(t, Dynamic, mem[:100])
	v, addr := newView(w), uint64(address(mem))
	e.p.Unlock()
	if err := v.Attach(mem[200:300], nil); err != nil {
		t.Fatal(err)
	}
	e.p.Lock()
	deliver(e, wire.Header{Kind: wire.WinPut, Arg: addr, Tag: 1}, withRuns(24, strided(0, 8, 200, 3))) // 400 is in none
	faultOf(t, f, 0)
	deliver(e, wire.Header{Kind: wire.WinPut, Arg: addr, Tag: 2}, withRuns(24, strided(0, 8, 200, 2), strided(96, 8, 0, 1))) // goes over an end
	faultOf(t, f, 0)
	untouched(t, all)
	deliver(e, wire.Header{Kind: wire.WinPut, Arg: addr, Tag: 1}, withRuns(16, strided(0, 8, 200, 2)))
	if len(f.take()) != 0 || mem[0] != 0 || mem[200] != 0 || mem[8] != guard || mem[208] != guard {
		t.Error("a put to two regions has not come to both")
	}
}

// F2, S5: a put is applied when all of it has arrived. If its origin dies before, or the memory is
// freed, nothing of it is applied.
func TestF2S5_PutsArriveWhole(t *testing.T) {
	mem, all := guarded(1000)
	e, _, f := withFakePeers(t, Created, mem)
	for _, n := range []int{1, 8, 500, 1000} {
		h := wire.Header{Kind: wire.WinPut, Ctx: window, Size: uint32(n)}
		if dst := e.messages.Place(enemy, &h); dst != nil {
			t.Errorf("%d bytes of a put that has not come are placed in the window", n)
		}
	}
	f.down(e, enemy)
	untouched(t, all)
}

// An operation whose target dies ends with an error, in whatever state it is; its memory is
// released.
func TestF1_OperationsEndWithTheirTarget(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 100_000))
	data := make([]byte, 50_000)
	get := start(e, w, operation.Op{Kind: operation.Get, Result: mem.Of(data)}, true)
	fop := start(e, w, operation.Op{Kind: operation.Accumulate, Fn: op.Sum, Elem: op.Int64, Origin: mem.Of(data[:8]), Result: mem.Of(data[8:16])}, true)
	f.full = true
	long := start(e, w, operation.Op{Kind: operation.Put, Origin: mem.Of(data)}, true)
	queued := start(e, w, operation.Op{Kind: operation.Put, Origin: mem.Of(data[:8])}, true)
	quiet := start(e, w, operation.Op{Kind: operation.Put, Origin: mem.Of(data[:8])}, false)
	tg := to(w)
	e.link.RequestFlushes(&tg.Target, false)
	if quiet != nil || get.Done() || long.Done() || queued.Done() || tg.Idle() {
		t.Fatal("complete before anything could go")
	}
	f.down(e, enemy)
	for _, r := range []interface{ Done() bool }{get, fop, long, queued} {
		if !r.Done() {
			t.Fatal("an operation with a dead target is pending")
		}
	}
	failedWith(t, get.Status.Err, class.ProcFailed)
	failedWith(t, queued.Status.Err, class.ProcFailed)
	failedWith(t, e.link.AwaitFlushes(&tg.Target, false, nil), class.ProcFailed)
	late := start(e, w, operation.Op{Kind: operation.Put, Origin: mem.Of(data[:8])}, true)
	if !late.Done() {
		t.Fatal("an operation with a dead target begins")
	}
	failedWith(t, late.Status.Err, class.ProcFailed)
	if e.link.State() != (link.State{}) || e.link.Requests(enemy) != 0 {
		t.Error("something is kept of the dead")
	}
}
