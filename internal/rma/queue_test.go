package rma

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// originAndTarget is an origin and a target whose frames the test carries, one at a time, with room or
// without.
type originAndTarget struct {
	t          *testing.T
	rng        *rand.Rand
	e, far     *Engine
	w          *Window
	f, g       *fakeFabric
	mem, model []byte // of the target, and what it should be
	there      []sentFrame
	back       []sentFrame
	gets       bool // some are under way
}

func newPair(t *testing.T, seed uint64, size int) *originAndTarget {
	p := &originAndTarget{t: t, rng: rand.New(rand.NewPCG(seed, 9)), mem: make([]byte, size), model: make([]byte, size)}
	p.e, p.w, p.f = withFakePeers(t, Created, make([]byte, size))
	p.far, _, p.g = withFakePeers(t, Created, p.mem)
	p.f.chunk = 512 + int(seed%3)*2000
	return p
}

// step carries a few frames, or runs the work of one side.
func (p *originAndTarget) step() {
	carry := func(from *fakeFabric, queue *[]sentFrame, to *Engine) {
		*queue = append(*queue, from.take()...)
		for n := 1 + p.rng.IntN(4); n > 0 && len(*queue) > 0; n-- {
			x := (*queue)[0]
			*queue = (*queue)[1:]
			if dst := to.Place(enemy, &x.h); dst != nil {
				copy(dst, x.payload)
				to.Placed(enemy, &x.h)
			} else {
				to.Frame(enemy, &x.h, x.payload)
			}
		}
	}
	switch p.rng.IntN(8) {
	case 0:
		p.f.full = !p.f.full
	case 1:
		p.g.full = !p.g.full
	case 2, 3:
		carry(p.f, &p.there, p.far)
	case 4, 5:
		carry(p.g, &p.back, p.e)
	case 6:
		p.e.p.Progress(-1)
		p.e.Work()
	default:
		p.far.p.Progress(-1)
		p.far.Work()
	}
	if len(p.f.lost)+len(p.g.lost) > 0 {
		p.t.Fatal("a correct peer is taken down")
	}
	if n := p.e.link.Requests(enemy); n > link.RequestsMax || n < 0 {
		p.t.Fatalf("%d requests are open", n)
	}
}

// until steps until so is true.
func (p *originAndTarget) until(what string, so func() bool) {
	p.t.Helper()
	for n := 0; !so(); n++ {
		if n > 1_000_000 {
			p.t.Fatalf("%s: does not happen", what)
		}
		p.step()
	}
}

// pending is an operation whose result the test checks.
type pending struct {
	r    *p2p.Request
	what string
	got  mem.Mem
	want []byte
}

// RC-01, RC-02, RC-03, RC-04, RC-05, RC-06, RC-13: random operations with random layouts, of
// lengths from a word to many frames, cut into frames of 512 bytes or more, with room and without,
// leave in the target's memory and in results what a sequential execution leaves; flushes return
// only when everything before them has arrived.
func TestRC03RC04_QueuesEqualOneByOne(t *testing.T) {
	for seed := range uint64(6) {
		p := newPair(t, seed, 20_000)
		tg := to(p.w)
		var open []pending
		check := func() {
			t.Helper()
			for _, x := range open {
				p.until(x.what, x.r.Done)
				got := make([]byte, len(x.want))
				x.got.Pack(got, 0)
				if x.r.Status.Err != nil || !bytes.Equal(got, x.want) {
					t.Fatalf("seed %d: %s: %v,\n% x, want\n% x", seed, x.what, x.r.Status.Err, got, x.want)
				}
				p.e.messages.Free(x.r)
			}
			open = open[:0]
		}
		flush := func() {
			t.Helper()
			p.e.link.RequestFlushes(&tg.Target, false)
			p.until("a flush", tg.Flushed)
			if !bytes.Equal(p.mem, p.model) {
				t.Fatalf("seed %d: after a flush the memory differs", seed)
			}
			if err := tg.Numbered(0).TakeFault(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			check()
		}
		for range 50 {
			if p.rng.IntN(6) == 0 {
				flush()
			}
			open = append(open, p.random(tg, flush)...)
			for range p.rng.IntN(6) {
				p.step()
			}
		}
		flush()
		p.until("nothing is under way", func() bool { return p.e.link.Requests(enemy) == 0 && p.far.server.State(enemy).Asked == 0 })
		if !tg.Quiet() || p.e.link.State() != (link.State{}) || p.far.server.State(enemy).Answering != 0 {
			t.Fatal("something is kept")
		}
		p.e.p.Unlock() // what withFakePeers has locked is unlocked in the end
		p.e.p.Lock()
	}
}

// random starts an operation, several equal ones if it is short, and applies it to the model.
func (p *originAndTarget) random(tg *target, flush func()) (open []pending) {
	rng := p.rng
	elements := int64(1 + rng.IntN(4))
	if rng.IntN(4) == 0 {
		elements = 1 + rng.Int64N(400)
	}
	k := operation.Kind(rng.IntN(4))
	if k == operation.CompareAndSwap {
		elements = 1
	}
	if k == operation.Get || p.gets {
		flush() // a get may see what is put after it
	}
	p.gets = k == operation.Get
	a := operation.Op{Kind: k, Elem: op.Int64}
	n := 1 + rng.IntN(8)
	if elements < 5 && rng.IntN(20) == 0 {
		n = 2 * link.RequestsMax
	}
	for ; n > 0; n-- {
		there, offs := p.layout(elements, k != operation.CompareAndSwap)
		lo, hi := offs[0], offs[0]
		for _, o := range offs {
			lo, hi = min(lo, o), max(hi, o+8)
		}
		base := -lo + rng.Int64N((int64(len(p.mem))-(hi-lo))/8)*8
		a.Place, a.Disp = there, base
		values := make([]byte, 8*elements)
		for i := range values {
			values[i] = byte(rng.Uint32())
		}
		before := make([]byte, 8*elements)
		for i, o := range offs {
			copy(before[8*i:], p.model[base+o:][:8])
		}
		x := pending{what: fmt.Sprintf("kind %d of %d elements at %d", k, elements, base), want: before}
		a.Fn, a.Origin, a.Result, a.Compare = 0, mem.Mem{}, mem.Mem{}, nil
		if k == operation.Get || k == operation.CompareAndSwap || k == operation.Accumulate && rng.IntN(2) == 0 {
			a.Result = p.data(make([]byte, 8*elements))
			x.got = a.Result
		}
		switch k {
		case operation.Put:
			a.Origin = p.data(values)
			for i, o := range offs {
				copy(p.model[base+o:], values[8*i:][:8])
			}
		case operation.Accumulate:
			a.Fn, a.Origin = op.Sum, p.data(values)
			if x.got.Len() == 0 || rng.IntN(3) > 0 {
				for i, o := range offs {
					m := p.model[base+o:][:8]
					x.want = set(x.want, i, m) // an element may be there twice
					op.Apply(op.Sum, op.Int64, m, m, values[8*i:][:8])
				}
			} else {
				a.Fn, a.Origin = op.NoOp, mem.Mem{}
			}
		case operation.CompareAndSwap:
			a.Origin, a.Compare = mem.Of(values), before
			if rng.IntN(2) == 0 {
				a.Compare = make([]byte, 8)
			}
			if bytes.Equal(a.Compare, before) {
				copy(p.model[base:], values)
			}
		}
		result := a.Result.Len() > 0
		if r := start(p.e, p.w, a, result); r != nil {
			x.r = r
			open = append(open, x)
		}
	}
	return open
}

// set makes x element i of values.
func set(values []byte, i int, x []byte) []byte {
	copy(values[8*i:], x)
	return values
}

// layout is n elements at the target, and the offsets of each.
func (p *originAndTarget) layout(n int64, inRuns bool) (l operation.Place, offs []int64) {
	int64s := dtype.Predefined().Type(dtype.Int64)
	switch p.rng.IntN(3) {
	case 0:
		if inRuns {
			gap := 16 + 8*p.rng.Int64N(3)
			v, err := dtype.Resized(int64s, 0, gap)
			if err != nil {
				p.t.Fatal(err)
			}
			v.Commit()
			for i := range n {
				offs = append(offs, i*gap)
			}
			return operation.Place{Type: v, Count: n}, offs
		}
	case 1:
		if inRuns {
			disps := make([]int64, n)
			for i := range disps {
				disps[i] = int64(i)*3 - p.rng.Int64N(2)
				offs = append(offs, 8*disps[i])
			}
			v, err := dtype.IndexedBlock(1, disps, int64s)
			if err != nil {
				p.t.Fatal(err)
			}
			v.Commit()
			return operation.Place{Type: v, Count: 1}, offs
		}
	}
	for i := range n {
		offs = append(offs, 8*i)
	}
	return operation.Place{}, offs
}

// data is packed bytes, in a layout of their own now and then.
func (p *originAndTarget) data(packed []byte) mem.Mem {
	if p.rng.IntN(3) > 0 {
		return mem.Of(packed)
	}
	v, err := dtype.Resized(dtype.Predefined().Type(dtype.Int64), 0, 24)
	if err != nil {
		p.t.Fatal(err)
	}
	v.Commit()
	b, err := dtype.Bind(make([]byte, 3*len(packed)), 0, v, int64(len(packed)/8))
	if err != nil {
		p.t.Fatal(err)
	}
	b.Unpack(packed, 0)
	return mem.In(&b)
}

// Short puts are coalesced, in their order, and with what follows them; no frame is sent before it
// must be.
func TestShortPutsGoTogether(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 4096))
	f.chunk = 8192
	tg := to(w)
	put := func(off int64, n int) {
		start(e, w, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{byte(off)}, n)), Disp: off}, false)
	}
	sum := func(off int64) {
		start(e, w, operation.Op{Kind: operation.Accumulate, Fn: op.Sum, Elem: op.Int64, Origin: mem.Of(make([]byte, 8)), Disp: off}, false)
	}
	expect := func(what string, want ...wire.Header) {
		t.Helper()
		var got []wire.Header
		for _, x := range f.take() {
			x.h.Ctx = 0
			got = append(got, x.h)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: sent\n%+v, want\n%+v", what, got, want)
		}
	}
	for i := range int64(4) {
		put(8*i, 8)
	}
	expect("puts that are not flushed")
	e.link.RequestFlushes(&tg.Target, false)
	expect("one behind the other", wire.Header{Kind: wire.WinPut, Size: 32, Flags: wire.ThenFlush, Name: 4})
	deliver(e, wire.Header{Kind: wire.WinDone, Arg: 4}, nil)
	for i := range int64(4) {
		put(100*i, 8)
	}
	sum(8)
	expect("a stride, and then something else", wire.Header{Kind: wire.WinPut, Size: operation.RunSize + 32, Tag: 1})
	put(1, 1)
	put(7, 1)
	put(2, 1)
	expect("an accumulate, and then something else", wire.Header{Kind: wire.WinAcc, Size: 8, Aux: aux(op.Sum, op.Int64), Arg: 8})
	e.link.SendComplete(&tg.Target)
	expect("no pattern", wire.Header{Kind: wire.WinPut, Size: 2*operation.RunSize + 3, Tag: 2, Flags: wire.ThenComplete, Arg: 1})
	put(3, 5)
	e.Work() // as who polls does
	expect("somebody polls", wire.Header{Kind: wire.WinPut, Size: 5, Arg: 3})
	put(4, 5)
	start(e, w, operation.Op{Kind: operation.Get, Result: mem.Of(make([]byte, 8))}, false)
	if s := f.take(); len(s) != 2 || s[0].h.Kind != wire.WinPut || s[1].h.Kind != wire.WinGet {
		t.Errorf("a get behind a put: %+v", s)
	}
}
