package rma

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// shortEpoch begins an epoch with the enemy by f and ends it in a goroutine of its own. It
// returns the frames that were sent until Unlock waited, and where its error will be. The lock
// is held before and after.
func shortEpoch(t *testing.T, e *Engine, w *Window, f *fakeFabric, exclusive bool, call func(v *View) error) ([]sentFrame, chan error) {
	t.Helper()
	v := newView(w)
	v.options.Store(&Options{})
	e.p.Unlock()
	err := v.Lock(exclusive, enemy, 0)
	if err == nil && call != nil {
		err = call(v)
	}
	e.p.Lock()
	if sent := f.take(); err != nil || len(sent) > 0 {
		t.Fatalf("before Unlock: error %v, frames %+v", err, sent)
	}
	e.p.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- v.Unlock(enemy) }()
	defer e.p.Lock()
	for {
		e.p.Lock()
		waits := to(w).lazy.waits != nil
		sent := f.take()
		if waits {
			e.p.Unlock()
			return sent, ended
		}
		f.sent = append(sent, f.sent...)
		e.p.Unlock()
		runtime.Gosched()
	}
}

// result releases the lock until Unlock has returned.
func (e *Engine) result(ended chan error) error {
	e.p.Unlock()
	defer e.p.Lock()
	return <-ended
}

// RS-03: an epoch with one short operation is one frame, and one answer that carries the fetched
// data.
func TestRS03_EpochsInOneFrame(t *testing.T) {
	got := make([]byte, 8)
	for _, c := range []struct {
		name      string
		exclusive bool
		call      func(v *View) error
		want      wire.Header
		payload   []byte
		answer    []byte
	}{
		{name: "nothing"},
		{name: "put", exclusive: true, call: func(v *View) error { return v.PutBytes([]byte("abc"), enemy, 5) },
			want: wire.Header{Tag: int32(wire.WinPut), Arg: 5}, payload: []byte("abc")},
		{name: "get", call: func(v *View) error { return v.GetBytes(got, enemy, 16) },
			want: wire.Header{Tag: int32(wire.WinGet), Arg: 16, Flags: wire.Fetches}, payload: length(8), answer: []byte("12345678")},
		{name: "accumulate", exclusive: true, call: func(v *View) error {
			return v.Accumulate(mem.Of(length(3)), enemy, 8, operation.Place{}, op.Sum, op.Int64)
		}, want: wire.Header{Tag: int32(wire.WinAcc), Arg: 8, Aux: aux(op.Sum, op.Int64)}, payload: length(3)},
		{name: "fetch_and_op", exclusive: true, call: func(v *View) error { return v.FetchAndOp(length(3), got, enemy, 8, op.Sum, op.Int64) },
			want: wire.Header{Tag: int32(wire.WinAcc), Arg: 8, Aux: aux(op.Sum, op.Int64), Flags: wire.Fetches}, payload: length(3), answer: []byte("abcdefgh")},
		{name: "an atomic get", call: func(v *View) error { return v.FetchAndOp(nil, got, enemy, 8, op.NoOp, op.Int64) },
			want: wire.Header{Tag: int32(wire.WinAcc), Arg: 8, Aux: aux(op.NoOp, op.Int64), Flags: wire.Fetches}, payload: length(8), answer: []byte("ABCDEFGH")},
		{name: "compare_and_swap", exclusive: true, call: func(v *View) error {
			return v.CompareAndSwap(length(2), length(1), got, enemy, 8, op.Int64)
		}, want: wire.Header{Tag: int32(wire.WinCas), Arg: 8, Aux: aux(0, op.Int64), Flags: wire.Fetches}, payload: append(length(1), length(2)...), answer: []byte("ijklmnop")},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w, f := withFakePeers(t, Created, make([]byte, 100))
			for turn := range 2 {
				sent, ended := shortEpoch(t, e, w, f, c.exclusive, c.call)
				if len(sent) != 1 {
					t.Fatalf("frames %+v, want one", sent)
				}
				h := sent[0].h
				if about := string(to(w).lazy.waits.AppendAbout(nil)); about != fmt.Sprintf("Unlock, for the lock of rank %d", enemy) {
					t.Errorf("who waits says %q", about)
				}
				want := c.want
				want.Kind, want.Ctx, want.Name, want.Size = wire.WinEpoch, window, h.Name, uint32(len(c.payload))
				if c.exclusive {
					want.Flags |= wire.Exclusive
				}
				if h != want || !bytes.Equal(sent[0].payload, c.payload) {
					t.Fatalf("frame %+v with %x, want %+v with %x", h, sent[0].payload, want, c.payload)
				}
				if turn == 0 {
					deliver(e, wire.Header{Kind: wire.WinDone, Arg: h.Name}, c.answer)
				} else { // the lock is taken: it comes later, and all goes as if Lock had waited for it
					deliver(e, wire.Header{Kind: wire.WinGrant}, nil)
					again := f.take()
					last := again[len(again)-1].h
					switch {
					case c.call == nil && (len(again) != 1 || last.Kind != wire.WinUnlock):
						t.Fatalf("after the grant: %+v", again)
					case c.call != nil && again[0].h.Kind != wire.Kind(c.want.Tag):
						t.Fatalf("after the grant: %+v", again)
					}
					if again[0].h.Kind != last.Kind { // it has asked for data
						deliver(e, wire.Header{Kind: wire.WinReply, Name: again[0].h.Name}, c.answer)
					}
					at := last.Arg
					if last.Kind != wire.WinUnlock {
						at = last.Name // with the operation
					}
					deliver(e, wire.Header{Kind: wire.WinDone, Arg: at}, nil)
				}
				if err := e.result(ended); err != nil || len(f.lost) > 0 {
					t.Fatalf("Unlock: %v, %d taken down", err, len(f.lost))
				}
				if c.answer != nil && !bytes.Equal(got, c.answer) {
					t.Errorf("fetched %q, want %q", got, c.answer)
				}
				clear(got)
				if n := e.link.Requests(enemy); n != 0 || !to(w).Quiet() || to(w).lazy.operation != nil || e.lazy() != nil {
					t.Errorf("%d requests are left, or an operation", n)
				}
			}
		})
	}
}

// RC-18, RS-03: Unlock reports the error of the operation of an epoch in one frame, and a death, of
// a holder or of the target; the next epoch can be opened.
func TestRC18_F3_EpochsInOneFrameFail(t *testing.T) {
	put := func(v *View) error { return v.PutBytes([]byte("abc"), enemy, 97) }
	for name, c := range map[string]struct {
		class  class.Class
		answer func(e *Engine, f *fakeFabric, at uint64)
	}{
		"beyond": {class.RMARange, func(e *Engine, f *fakeFabric, at uint64) {
			x, b := operation.Fault{Class: class.RMARange, Kind: wire.WinPut, Off: 97, Size: 3, Limit: 90}, make([]byte, operation.FaultSize)
			h := wire.Header{Kind: wire.WinDone, Arg: at, Flags: wire.Faulty}
			x.Encode(&h, b)
			deliver(e, h, b)
		}},
		"a holder": {class.ProcFailed, func(e *Engine, f *fakeFabric, at uint64) {
			deliver(e, wire.Header{Kind: wire.WinGrant, Aux: uint32(class.ProcFailed), Arg: enemy}, nil)
		}},
		"the target": {class.ProcFailed, func(e *Engine, f *fakeFabric, at uint64) { f.down(e, enemy) }},
	} {
		t.Run(name, func(t *testing.T) {
			e, w, f := withFakePeers(t, Created, make([]byte, 100))
			sent, ended := shortEpoch(t, e, w, f, true, put)
			c.answer(e, f, sent[0].h.Name)
			failedWith(t, e.result(ended), c.class)
			if to(w).lazy.operation != nil || w.epoch() != epochNone || len(f.take()) > 0 {
				t.Error("the epoch is not over")
			}
			if e.dead(enemy) {
				return
			}
			sent, ended = shortEpoch(t, e, w, f, false, put)
			deliver(e, wire.Header{Kind: wire.WinDone, Arg: sent[0].h.Name}, nil)
			if err := e.result(ended); err != nil {
				t.Error(err)
			}
		})
	}
}

// S5, S6: a target that answers an epoch in one frame with data that were not asked for is taken
// down, and only the requested result is written.
func TestS6_ForgedAnswersToEpochs(t *testing.T) {
	for _, c := range []struct {
		n    int // bytes of a get; 0: a put
		data int
	}{{8, 0}, {8, 7}, {8, 9}, {8, 4096}, {0, 1}, {0, 8}} {
		e, w, f := withFakePeers(t, Created, make([]byte, 100))
		result, all := guarded(c.n)
		sent, ended := shortEpoch(t, e, w, f, true, func(v *View) error {
			if c.n == 0 {
				return v.PutBytes([]byte("abc"), enemy, 0)
			}
			return v.GetBytes(result, enemy, 0)
		})
		deliver(e, wire.Header{Kind: wire.WinDone, Arg: sent[0].h.Name, Chan: 3}, make([]byte, c.n)) // of another channel
		deliver(e, wire.Header{Kind: wire.WinDone, Arg: sent[0].h.Name + 1}, make([]byte, c.n))
		if len(f.lost) > 0 || !to(w).EpochUnderWay() {
			t.Errorf("%+v: an answer to something else is taken", c)
		}
		deliver(e, wire.Header{Kind: wire.WinDone, Arg: sent[0].h.Name}, make([]byte, c.data))
		if len(f.lost) != 1 {
			t.Errorf("%+v: the sender of the answer is not taken down", c)
		}
		f.down(e, enemy)
		failedWith(t, e.result(ended), class.ProcFailed)
		untouched(t, all)
		e.p.Unlock()
		e.p.Lock()
	}
	// A second answer, of either kind, to an epoch that is over.
	e, w, f := withFakePeers(t, Created, make([]byte, 100))
	sent, ended := shortEpoch(t, e, w, f, true, nil)
	done := wire.Header{Kind: wire.WinDone, Arg: sent[0].h.Name}
	deliver(e, done, nil)
	deliver(e, done, make([]byte, 8))
	if err := e.result(ended); err != nil || len(f.lost) > 0 {
		t.Errorf("%v, %d taken down", err, len(f.lost))
	}
	deliver(e, wire.Header{Kind: wire.WinGrant}, nil)
	if len(f.lost) != 1 {
		t.Error("who grants a lock that nobody has asked for is not taken down")
	}
}

// deliverEpoch delivers a WinEpoch of a process.
func deliverEpoch(e *Engine, from int, h wire.Header, payload []byte) {
	h.Kind, h.Ctx, h.Size = wire.WinEpoch, window, uint32(len(payload))
	e.Frame(from, &h, payload)
}

// RW-09: an epoch in one frame gets the lock in its turn. While the lock is taken its operation is
// not carried out, and nothing of it is kept.
func TestRW09_EpochsTakeTheirTurn(t *testing.T) {
	e, w, f := remotelyLocked(t, 4)
	w.mem = []byte("abcdefghijklmnop")
	w.own = e.region(w.mem, w.control, 0)
	get := wire.Header{Tag: int32(wire.WinGet), Flags: wire.Fetches, Name: 5}
	put := wire.Header{Tag: int32(wire.WinPut), Flags: wire.Exclusive, Arg: 1, Name: 6}
	done := func(when string, to int, name uint64, data string) {
		t.Helper()
		sent := f.take()
		if len(sent) != 1 || sent[0].to != to || sent[0].h.Kind != wire.WinDone || sent[0].h.Arg != name || sent[0].h.Flags != 0 || string(sent[0].payload) != data {
			t.Fatalf("%s: %+v, want a WinDone %d to %d with %q", when, sent, name, to, data)
		}
	}
	deliverEpoch(e, 1, get, length(4))
	done("free", 1, 5, "abcd")
	deliverEpoch(e, 1, put, []byte("XY"))
	done("free again", 1, 6, "")
	w.lockAsked(2, false)
	expectGrants(t, f, "a reader", [2]int{2, -1})
	deliverEpoch(e, 1, get, length(4))
	done("beside a reader", 1, 5, "aXYd")
	deliverEpoch(e, 1, put, []byte("--"))
	deliverEpoch(e, 3, get, length(4))
	deliverEpoch(e, 4, put, []byte("++"))
	expectGrants(t, f, "a reader has it")
	if string(w.mem[:4]) != "aXYd" {
		t.Fatalf("memory %q", w.mem)
	}
	w.unlockAsked(2)
	expectGrants(t, f, "the first", [2]int{1, -1})
	w.unlockAsked(1)
	expectGrants(t, f, "the second", [2]int{3, -1})
	w.unlockAsked(3)
	expectGrants(t, f, "the third", [2]int{4, -1})
	w.unlockAsked(4)
	if string(w.mem[:4]) != "aXYd" || w.control.Lock().Contended(9, e.deadLocals) || !w.service.Idle() {
		t.Fatalf("memory %q, the lock is not returned", w.mem)
	}
	beyond := put
	beyond.Arg = 15
	deliverEpoch(e, 1, beyond, []byte("--"))
	sent := f.take()
	if len(sent) != 1 || sent[0].h.Kind != wire.WinDone || sent[0].h.Flags != wire.Faulty || !w.service.Idle() {
		t.Fatalf("beyond the end: %+v, the lock is not returned: %t", sent, w.service.Idle())
	}
	if x, ok := operation.DecodeFault(&sent[0].h, sent[0].payload); !ok || x.Class != class.RMARange || x.Kind != wire.WinPut || x.Off != 15 || x.Size != 2 || x.Limit != 16 {
		t.Errorf("the fault is %+v", x)
	}
	if string(w.mem) != "aXYdefghijklmnop" {
		t.Errorf("memory %q", w.mem)
	}
}

// S5, S6: epochs that no correct process sends take it down, and change nothing.
func TestS5_ForgedEpochs(t *testing.T) {
	long := make([]byte, link.ShortMax+8)
	for _, c := range []struct {
		name    string
		h       wire.Header
		payload []byte
	}{
		{"data for nothing", wire.Header{}, []byte("a")},
		{"a result of nothing", wire.Header{Flags: wire.Fetches}, nil},
		{"another flag", wire.Header{Flags: 4}, nil},
		{"another channel", wire.Header{Chan: 1}, nil},
		{"another kind", wire.Header{Tag: int32(wire.WinReply)}, nil},
		{"a kind that is no operation", wire.Header{Tag: int32(wire.Eager)}, nil},
		{"a negative kind", wire.Header{Tag: -1}, nil},
		{"a large kind", wire.Header{Tag: 1 << 8}, nil},
		{"a put of nothing", wire.Header{Tag: int32(wire.WinPut)}, nil},
		{"a put with a result", wire.Header{Tag: int32(wire.WinPut), Flags: wire.Fetches}, []byte("a")},
		{"a long put", wire.Header{Tag: int32(wire.WinPut)}, long},
		{"a get of nothing", wire.Header{Tag: int32(wire.WinGet), Flags: wire.Fetches}, length(0)},
		{"a long get", wire.Header{Tag: int32(wire.WinGet), Flags: wire.Fetches}, length(link.ShortMax + 1)},
		{"a huge get", wire.Header{Tag: int32(wire.WinGet), Flags: wire.Fetches}, length(1 << 63)},
		{"a get without a length", wire.Header{Tag: int32(wire.WinGet), Flags: wire.Fetches}, []byte("1234567")},
		{"a get without a result", wire.Header{Tag: int32(wire.WinGet)}, length(8)},
		{"no type", wire.Header{Tag: int32(wire.WinAcc), Aux: 200 << auxType}, length(8)},
		{"no operation", wire.Header{Tag: int32(wire.WinAcc), Aux: aux(200, op.Int64)}, length(8)},
		{"half an element", wire.Header{Tag: int32(wire.WinAcc), Aux: aux(op.Sum, op.Int64)}, make([]byte, 12)},
		{"no element", wire.Header{Tag: int32(wire.WinAcc), Aux: aux(op.Sum, op.Int64)}, nil},
		{"many elements", wire.Header{Tag: int32(wire.WinAcc), Aux: aux(op.Sum, op.Int64)}, long},
		{"no_op without a result", wire.Header{Tag: int32(wire.WinAcc), Aux: aux(op.NoOp, op.Int64)}, length(8)},
		{"no_op on half an element", wire.Header{Tag: int32(wire.WinAcc), Aux: aux(op.NoOp, op.Int64), Flags: wire.Fetches}, length(12)},
		{"half a swap", wire.Header{Tag: int32(wire.WinCas), Aux: aux(0, op.Int64), Flags: wire.Fetches}, length(8)},
		{"a swap without a result", wire.Header{Tag: int32(wire.WinCas), Aux: aux(0, op.Int64)}, make([]byte, 16)},
		{"a swap with an operation", wire.Header{Tag: int32(wire.WinCas), Aux: aux(op.Sum, op.Int64), Flags: wire.Fetches}, make([]byte, 16)},
	} {
		mem, all := guarded(link.ShortMax * 2)
		e, w, f := remotelyLocked(t, 2)
		w.mem, w.own = mem, e.region(mem, w.control, 0)
		deliverEpoch(e, 1, c.h, c.payload)
		if len(f.lost) != 1 || !w.service.Idle() || len(f.take()) > 0 {
			t.Errorf("%s: its sender is not taken down", c.name)
		}
		untouched(t, all)
		e.p.Unlock()
		e.p.Lock()
	}
	e, w, f := remotelyLocked(t, 2) // a second request, while the first waits
	w.lockAsked(2, true)
	deliverEpoch(e, 1, wire.Header{}, nil)
	deliverEpoch(e, 1, wire.Header{}, nil)
	if len(f.lost) != 1 || !w.service.Speak(1) {
		t.Error("who asks twice is not taken down")
	}
}
