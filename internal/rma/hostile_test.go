package rma

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

const guard = 0xa5

// guarded is n bytes of memory that a test can look around.
func guarded(n int) (mem, all []byte) {
	all = bytes.Repeat([]byte{guard}, n+128)
	return all[64 : 64+n : 64+n], all
}

// untouched expects that no byte has changed.
func untouched(t *testing.T, all []byte) {
	t.Helper()
	for i, b := range all {
		if b != guard {
			t.Fatalf("byte %d of the target's memory has become %#x", i-64, b)
		}
	}
}

// length is the payload of a frame that asks for n bytes.
func length(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// withRuns is the payload of a frame with runs.
func withRuns(data int, rs ...operation.Runs) []byte {
	b := make([]byte, len(rs)*operation.RunSize+data)
	for i := range rs {
		rs[i].Encode(b[i*operation.RunSize:])
	}
	return b
}

// strided are blocks of length bytes, stride apart.
func strided(off, length, stride, count int64) operation.Runs {
	return operation.Runs{Off: off, Length: length, Stride: stride, Count: count}
}

// Where in Aux of an accumulate the type begins, and the floating-point environment.
const auxType, auxEnv = 8, 24

// aux is Aux of an accumulate.
func aux(o op.Op, t op.Type) uint32 { return uint32(o) | uint32(t)<<auxType }

// deliver delivers a frame of the enemy.
func deliver(e *Engine, h wire.Header, payload []byte) {
	h.Size = uint32(len(payload))
	if h.Ctx == 0 {
		h.Ctx = window
	}
	e.Frame(enemy, &h, payload)
}

// faultOf expects one frame, a fault to a name, and returns it.
func faultOf(t *testing.T, f *fakeFabric, name uint64) operation.Fault {
	t.Helper()
	sent := f.take()
	if len(sent) != 1 || sent[0].h.Kind != wire.WinFault || sent[0].h.Name != name || sent[0].to != enemy {
		t.Fatalf("the answer is %+v, want a fault to %d", sent, name)
	}
	x, ok := operation.DecodeFault(&sent[0].h, sent[0].payload)
	if !ok {
		t.Fatalf("the fault %+v cannot be read", sent[0])
	}
	return x
}

// An access that is not wholly within the memory of the window is refused, its sender gets class
// and numbers, and nothing has changed (RC-18). It is an error of a program, so that the sender
// stays connected.
func TestS5RC18_BeyondTheWindow(t *testing.T) {
	const size = 1000
	for _, c := range []struct {
		off  uint64
		n    int
		runs []operation.Runs
	}{
		{off: size, n: 8},
		{off: size - 7, n: 8},
		{off: size + 1, n: 8},
		{off: math.MaxUint64, n: 8},
		{off: math.MaxUint64 - 7, n: 8}, // ends at 0
		{off: math.MaxUint64 - 3, n: 8}, // wraps around to 4
		{off: 1 << 63, n: 8},
		{off: 0, n: 64, runs: []operation.Runs{strided(0, 8, 8, 1), strided(size-48, 8, 8, 7)}},
		{off: 0, n: 16, runs: []operation.Runs{strided(size-7, 8, -8, 1), strided(0, 8, 8, 1)}},
		{off: 8, n: 16, runs: []operation.Runs{strided(8, 8, -32, 2)}},                                         // from -16 on
		{off: 0, n: 16, runs: []operation.Runs{strided(0, 8, math.MaxInt64, 2)}},                               // far beyond
		{off: 0, n: 24, runs: []operation.Runs{strided(0, 8, math.MaxInt64, 3)}},                               // and round to -2
		{off: 0, n: 24, runs: []operation.Runs{strided(0, 8, 1<<63/2, 3)}},                                     // and round to 0
		{off: 0, n: 16, runs: []operation.Runs{strided(0, 8, math.MinInt64, 2)}},                               //
		{off: math.MaxUint64, n: 16, runs: []operation.Runs{strided(1, 16, 0, 1)}},                             // base and offset wrap around to 0
		{off: math.MaxUint64 - 15, n: 32, runs: []operation.Runs{strided(16, 16, 0, 1), strided(0, 16, 0, 1)}}, // so does the first of them
	} {
		for _, kind := range []wire.Kind{wire.WinPut, wire.WinGet, wire.WinAcc, wire.WinCas} {
			for _, result := range []bool{false, true} {
				mem, all := guarded(size)
				e, _, f := withFakePeers(t, Created, mem)
				h := wire.Header{Kind: kind, Arg: c.off, Tag: int32(len(c.runs)), Name: 77}
				payload, name := withRuns(c.n, c.runs...), uint64(77)
				switch kind {
				case wire.WinPut:
					name = 0
				case wire.WinGet:
					payload = withRuns(0, c.runs...)
					if c.runs == nil {
						payload = length(uint64(c.n))
					}
				case wire.WinAcc:
					h.Aux = aux(op.Sum, op.Int64)
					name = 0
					if result {
						h.Flags, name = wire.WithResult, 77
					}
				case wire.WinCas:
					h.Aux, payload = aux(0, op.Int64), make([]byte, 16)
					if c.runs != nil {
						e.p.Unlock()
						e.p.Lock()
						continue
					}
				}
				deliver(e, h, payload)
				x := faultOf(t, f, name)
				if x.Class != class.RMARange || x.Kind != kind || x.Off != c.off || x.Limit != size {
					t.Errorf("%+v by kind %d: the fault is %+v", c, kind, x)
				}
				untouched(t, all)
				if len(f.lost) > 0 {
					t.Errorf("%+v by kind %d: its sender is taken down", c, kind)
				}
			}
		}
	}
}

// Frames for a window that does not exist any more, or never did.
func TestS5_StaleWindow(t *testing.T) {
	for _, id := range []uint64{1, window + 8, window + 1, 1 << 63, math.MaxUint64} {
		mem, all := guarded(100)
		e, _, f := withFakePeers(t, Created, mem)
		for _, c := range []struct {
			h       wire.Header
			payload []byte
			name    uint64
		}{
			{wire.Header{Kind: wire.WinPut}, make([]byte, 8), 0},
			{wire.Header{Kind: wire.WinAcc, Aux: aux(op.Sum, op.Int8)}, make([]byte, 8), 0},
			{wire.Header{Kind: wire.WinAcc, Aux: aux(op.Sum, op.Int8), Flags: wire.WithResult, Name: 3}, make([]byte, 8), 3},
			{wire.Header{Kind: wire.WinGet, Name: 4}, length(8), 4},
			{wire.Header{Kind: wire.WinCas, Name: 5, Aux: aux(0, op.Int32)}, make([]byte, 8), 5},
		} {
			c.h.Ctx = id
			deliver(e, c.h, c.payload)
			if x := faultOf(t, f, c.name); x.Class != class.Win {
				t.Errorf("%+v: the fault is %+v", c.h, x)
			}
		}
		for _, k := range []wire.Kind{wire.WinFlush, wire.WinUnlock} {
			deliver(e, wire.Header{Kind: k, Ctx: id, Arg: 9, Flags: wire.Answer}, nil)
			s := f.take()
			if len(s) != 1 || s[0].h.Kind != wire.WinDone || s[0].h.Flags != wire.Faulty || s[0].h.Arg != 9 || class.Class(s[0].h.Aux) != class.Win {
				t.Errorf("kind %d is answered by %+v", k, s)
			}
		}
		deliver(e, wire.Header{Kind: wire.WinLock, Ctx: id}, nil)
		if s := f.take(); len(s) != 1 || s[0].h.Kind != wire.WinGrant || class.Class(s[0].h.Aux) != class.Win {
			t.Errorf("a lock is answered by %+v", s)
		}
		for _, k := range []wire.Kind{wire.WinUnlock, wire.WinPost, wire.WinComplete, wire.WinGrant, wire.WinDone, wire.WinReply} {
			deliver(e, wire.Header{Kind: k, Ctx: id, Name: 1<<32 | 1, Arg: 1}, nil)
			if s := f.take(); len(s) != 0 {
				t.Errorf("kind %d is answered by %+v", k, s)
			}
		}
		if len(f.lost) > 0 {
			t.Error("the sender is taken down")
		}
		untouched(t, all)
	}
}

// A process that is no member is taken down, whatever it does.
func TestS5_StrangersReachNoWindow(t *testing.T) {
	for k := wire.WinPut; k <= wire.WinComplete; k++ {
		if k == wire.WinReply || k == wire.WinDone {
			continue // answers: for nobody
		}
		mem, all := guarded(100)
		e, _, f := withFakePeers(t, Created, mem)
		h := wire.Header{Kind: k, Ctx: window, Size: 8, Name: 1, Aux: aux(op.Replace, op.Int64)}
		if dst := e.Place(stranger, &h); dst != nil {
			t.Errorf("kind %d is placed", k)
		}
		e.Frame(stranger, &h, length(8))
		if len(f.lost) != 1 || f.lost[0] != stranger || len(f.sent) != 0 {
			t.Errorf("kind %d of a stranger: %v are taken down, %+v is said", k, f.lost, f.sent)
		}
		deliver(e, wire.Header{Kind: wire.WinPut}, []byte{1})
		if mem[0] != 1 {
			t.Error("a member is taken for a stranger")
		}
		mem[0] = guard
		untouched(t, all)
	}
}

// Frames that no correct process sends: their sender is taken down, and what it sends until then
// changes nothing.
func TestS6_ImpossibleFrames(t *testing.T) {
	huge := int64(math.MaxInt64)
	many := make([]operation.Runs, operation.RunsMax+1)
	for i := range many {
		many[i] = strided(0, 8, 8, 1)
	}
	put, get, acc, cas := wire.WinPut, wire.WinGet, wire.WinAcc, wire.WinCas
	sum := aux(op.Sum, op.Int64)
	for i, c := range []struct {
		h       wire.Header
		payload []byte
	}{
		{wire.Header{Kind: put, Tag: -1}, make([]byte, 64)},
		{wire.Header{Kind: put, Tag: math.MinInt32}, make([]byte, 64)},
		{wire.Header{Kind: put, Tag: 3}, make([]byte, 64)}, // no room for three
		{wire.Header{Kind: put, Tag: math.MaxInt32}, make([]byte, 64)},
		{wire.Header{Kind: put, Tag: operation.RunsMax + 1}, withRuns(8*len(many), many...)},
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, 0, 8, 1))},
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, 8, 8, 0))},
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, -8, 8, 1))},
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, -8, 8, -1))},
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, 1, 0, huge))},
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, 1<<32, 0, 1<<32))}, // 2^64 bytes
		{wire.Header{Kind: put, Tag: 1}, withRuns(8, strided(0, 16, 0, 1))},        // fewer data than said
		{wire.Header{Kind: put, Tag: 1}, withRuns(24, strided(0, 8, 8, 2))},        // more
		{wire.Header{Kind: get}, nil},
		{wire.Header{Kind: get}, make([]byte, 7)},
		{wire.Header{Kind: get}, make([]byte, 9)},
		{wire.Header{Kind: get}, length(0)},
		{wire.Header{Kind: get}, length(1 << 63)},
		{wire.Header{Kind: get}, length(math.MaxUint64)},
		{wire.Header{Kind: get, Tag: 1}, withRuns(8, strided(0, 8, 8, 1))}, // with data
		{wire.Header{Kind: get, Tag: 1}, withRuns(0, strided(0, 8, 0, wire.MaxPayload/8+1))},
		{wire.Header{Kind: get, Tag: 1}, withRuns(0, strided(0, 1, 0, huge))},
		{wire.Header{Kind: acc, Aux: 0}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.Sum, 0)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.Sum, 0xffff)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(0xff, op.Int64)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(0, op.Int64)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp+1, op.Int64)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: sum | 1<<24}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: math.MaxUint32}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.Band, op.Float64)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.Minloc, op.Int64)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.Max, op.Complex64)}, make([]byte, 8)},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64)}, length(8)}, // without a result
		{wire.Header{Kind: acc, Aux: sum}, nil},
		{wire.Header{Kind: acc, Aux: sum}, make([]byte, 12)},
		{wire.Header{Kind: acc, Aux: sum, Tag: 1}, withRuns(12, strided(0, 12, 0, 1))},
		{wire.Header{Kind: acc, Aux: sum, Tag: 2}, withRuns(16, strided(0, 4, 8, 3), strided(32, 4, 0, 1))},
		{wire.Header{Kind: acc, Aux: sum, Tag: 1}, withRuns(8, strided(0, 8, 8, 2))},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64), Flags: wire.WithResult}, nil},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64), Flags: wire.WithResult}, length(0)},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64), Flags: wire.WithResult}, length(12)},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64), Flags: wire.WithResult}, length(wire.MaxPayload + 8)},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64), Flags: wire.WithResult}, length(1 << 62)},
		{wire.Header{Kind: acc, Aux: aux(op.NoOp, op.Int64), Flags: wire.WithResult, Tag: 1}, withRuns(8, strided(0, 8, 8, 1))},
		{wire.Header{Kind: cas}, make([]byte, 16)},
		{wire.Header{Kind: cas, Aux: aux(0, op.Int64)}, make([]byte, 8)},
		{wire.Header{Kind: cas, Aux: aux(0, op.Int64)}, make([]byte, 24)},
		{wire.Header{Kind: cas, Aux: aux(0, op.Complex256)}, make([]byte, 64)},
		{wire.Header{Kind: cas, Aux: aux(op.Sum, op.Int64)}, make([]byte, 16)},
		{wire.Header{Kind: cas, Aux: aux(0, op.Int64), Tag: 1}, make([]byte, 16)},
		{wire.Header{Kind: cas, Aux: math.MaxUint32}, make([]byte, 16)},
		{wire.Header{Kind: wire.WinFault}, nil},
		{wire.Header{Kind: wire.WinFault, Aux: uint32(class.RMARange), Tag: int32(put)}, make([]byte, operation.FaultSize-1)},
		{wire.Header{Kind: wire.WinFault, Aux: uint32(class.RMARange), Tag: int32(wire.Eager)}, make([]byte, operation.FaultSize)},
		{wire.Header{Kind: wire.WinFault, Aux: uint32(class.NoMem), Tag: int32(put)}, make([]byte, operation.FaultSize)},
		{wire.Header{Kind: wire.WinUnlock}, nil},                        // of what is not held
		{wire.Header{Kind: wire.WinUnlock, Flags: wire.Answer}, nil},    //
		{wire.Header{Kind: wire.WinGrant}, nil},                         // not asked for
		{wire.Header{Kind: wire.WinGrant, Aux: math.MaxUint32}, nil},    //
		{wire.Header{Kind: wire.WinGrant, Aux: uint32(class.Win)}, nil}, //
	} {
		mem, all := guarded(100)
		e, _, f := withFakePeers(t, Created, mem)
		c.h.Name = max(c.h.Name, 5)
		if c.h.Kind == wire.WinFault {
			c.h.Name = 0
		}
		deliver(e, c.h, c.payload)
		if len(f.lost) != 1 || f.lost[0] != enemy || len(f.sent) != 0 {
			t.Errorf("frame %d, %+v: %v are taken down, and %+v is said", i, c.h, f.lost, f.sent)
		}
		deliver(e, wire.Header{Kind: put}, []byte{1})
		untouched(t, all)
		f.down(e, enemy)
	}
}

// Answers to no request, or with more data than was asked for.
func TestS6_ForgedAnswers(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 1000))
	result, around := guarded(100)
	r := start(e, w, operation.Op{Kind: operation.Get, Result: mem.Of(result)}, true)
	name := f.take()[0].h.Name
	answer := func(h wire.Header, n int) {
		h.Kind = wire.WinReply
		h.Size, h.Ctx = uint32(n), max(h.Ctx, window)
		if dst := e.Place(enemy, &h); dst != nil {
			t.Errorf("%+v is placed", h)
		}
		e.Frame(enemy, &h, make([]byte, n))
	}
	for _, n := range []uint64{0, 1, name + 1, name + 1<<32, name - 1<<32, name ^ 1<<63, math.MaxUint64} {
		answer(wire.Header{Name: n}, 100)
	}
	answer(wire.Header{Name: name, Ctx: window + 8}, 100) // another window's
	answer(wire.Header{Name: name}, 101)
	answer(wire.Header{Name: name}, wire.MaxPayload)
	answer(wire.Header{Name: name}, 0)
	h := wire.Header{Kind: wire.WinReply, Ctx: window, Name: name, Size: 100}
	e.Frame(stranger, &h, make([]byte, 100)) // another process's
	if e.Place(stranger, &h) != nil {
		t.Error("the answer of another process is placed")
	}
	deliver(e, wire.Header{Kind: wire.WinDone, Arg: 1}, nil) // nobody has flushed
	deliver(e, wire.Header{Kind: wire.WinDone, Arg: math.MaxUint64}, nil)
	untouched(t, around)
	if r.Done() || len(f.lost) != 0 {
		t.Fatalf("a forged answer completes a get, or takes %v down", f.lost)
	}
	h.Size = 60
	copy(e.Place(enemy, &h), bytes.Repeat([]byte{1}, 60))
	e.Placed(enemy, &h)
	answer(wire.Header{Name: name}, 41) // more than is missing
	h.Size = 40
	e.Frame(enemy, &h, bytes.Repeat([]byte{2}, 40))
	if !r.Done() || r.Status.Err != nil || result[59] != 1 || result[60] != 2 || result[99] != 2 {
		t.Fatalf("the get has got % x, %v", result, r.Status.Err)
	}
	answer(wire.Header{Name: name}, 10) // it is over
	copy(result, bytes.Repeat([]byte{guard}, 100))
	untouched(t, around)
	if n := e.link.Requests(enemy); n != 0 {
		t.Errorf("%d requests are open", n)
	}
}

// faultsOf and deniedOf are how many faults and refusals are kept of the frames of others to a window.
func faultsOf(w *Window) int {
	n, _, _ := w.incoming.Kept()
	return n
}

func deniedOf(w *Window) int {
	_, n, _ := w.incoming.Kept()
	return n
}
