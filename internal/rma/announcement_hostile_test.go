package rma

import (
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// RW-05, RC-18: an operation whose announced memory is not attached is refused as a whole, each
// frame of it, and notifies nobody; later operations, announced or not, are carried out.
func TestS5RC18_DeniedByWhatWentAhead(t *testing.T) {
	const size = 1000
	put, acc := wire.Header{Kind: wire.WinPut}, wire.Header{Kind: wire.WinAcc, Aux: aux(op.Sum, op.Int64)}
	for i, c := range []struct {
		h       wire.Header
		payload []byte
	}{
		{wire.Header{}, length(size + 1)},
		{wire.Header{Arg: 8}, length(math.MaxInt64)},
		{wire.Header{Tag: 1}, withRuns(0, strided(0, 8, 16, 64))},
		{wire.Header{Tag: 2}, withRuns(0, strided(0, 8, 16, 8), strided(-8, 8, 0, 1))},
		{wire.Header{Tag: 1}, withRuns(0, strided(0, 1, 1, math.MaxInt64))},
		{wire.Header{Tag: 1}, withRuns(0, strided(0, 8, math.MinInt64, 2))},
		{wire.Header{Arg: math.MaxUint64 / 2}, length(8)},
		{wire.Header{Arg: math.MaxUint64 - 5000, Tag: 1}, withRuns(0, strided(0, 8, 16, 64))},
	} {
		mem, all := guarded(size)
		e, w, f := withFakePeers(t, Dynamic, mem)
		addr := uint64(address(mem))
		span := c.h
		span.Kind = wire.WinSpan
		span.Arg += addr
		deliver(e, span, c.payload)
		if s := f.take(); len(s) != 0 || len(f.lost) != 0 {
			t.Fatalf("case %d is answered by %+v, %v are taken down", i, s, f.lost)
		}
		for _, h := range []wire.Header{put, acc} {
			h.Flags, h.Arg = wire.Spanned|wire.Notifies, addr
			deliver(e, h, make([]byte, 8))
			if x := faultOf(t, f, 0); x.Class != class.RMARange || x.Kind != h.Kind || x.Off != span.Arg {
				t.Errorf("case %d: the fault is %+v", i, x)
			}
		}
		last := put
		last.Flags, last.Arg = wire.Spanned|wire.ThenNotify, addr
		last.SetCounter(1)
		deliver(e, last, make([]byte, 8))
		faultOf(t, f, 0)
		asks := acc
		asks.Flags, asks.Arg, asks.Name = wire.Spanned|wire.WithResult, addr, 7
		deliver(e, asks, make([]byte, 8))
		faultOf(t, f, 7)
		untouched(t, all)
		other := put
		other.Chan, other.Flags, other.Arg = 3, wire.Spanned, addr // of another channel
		deliver(e, other, []byte{1})
		put.Arg = addr + 1
		deliver(e, put, []byte{1})
		span.Arg, span.Tag = addr, 0
		deliver(e, span, length(size))
		other.Chan, other.Arg = 0, addr+2
		deliver(e, other, []byte{1})
		if s := f.take(); len(s) != 0 || mem[0] != 1 || mem[1] != 1 || mem[2] != 1 || w.counter(1).Value() != 0 || deniedOf(w) != 0 {
			t.Errorf("case %d: others are answered by %+v, memory is % x", i, s, mem[:4])
		}
	}
}

// Announcements that no correct process sends.
func TestS6_ImpossibleFramesAhead(t *testing.T) {
	many := make([]operation.Runs, operation.RunsMax+1)
	for i := range many {
		many[i] = strided(0, 8, 8, 1)
	}
	for i, c := range []struct {
		flavor  Flavor
		tag     int32
		payload []byte
	}{
		{Created, 0, length(8)},
		{Dynamic, 0, nil},
		{Dynamic, 0, length(1 << 63)},
		{Dynamic, 0, make([]byte, 9)},
		{Dynamic, 1, withRuns(8, strided(0, 8, 8, 1))},
		{Dynamic, 2, withRuns(0, strided(0, 8, 8, 1))},
		{Dynamic, -1, nil},
		{Dynamic, operation.RunsMax + 1, withRuns(0, many...)},
		{Dynamic, 1, withRuns(0, strided(0, 0, 8, 1))},
		{Dynamic, 1, withRuns(0, strided(0, 8, 8, -1))},
		{Dynamic, 1, withRuns(0, strided(0, 1<<32, 0, 1<<32))},
	} {
		mem, all := guarded(100)
		e, w, f := withFakePeers(t, c.flavor, mem)
		deliver(e, wire.Header{Kind: wire.WinSpan, Tag: c.tag, Arg: uint64(address(mem))}, c.payload)
		if len(f.lost) != 1 || f.lost[0] != enemy || len(f.sent) != 0 {
			t.Errorf("frame %d: %v are taken down, and %+v is said", i, f.lost, f.sent)
		}
		untouched(t, all)
		f.down(e, enemy)
		if deniedOf(w) != 0 {
			t.Errorf("frame %d: something is kept of the dead", i)
		}
	}
}

// A peer cannot make this process keep more than one refusal for each channel.
func TestS6_DeniedWithoutEnd(t *testing.T) {
	e, w, f := withFakePeers(t, Dynamic, make([]byte, 8))
	for i := range 100_000 {
		deliver(e, wire.Header{Kind: wire.WinSpan, Chan: uint16(i % link.ChannelsMax), Flags: uint8(i) & wire.Spanned}, length(8))
	}
	if deniedOf(w) != link.ChannelsMax || len(f.sent) != 0 {
		t.Errorf("%d refusals are kept, %d frames are sent", deniedOf(w), len(f.sent))
	}
	f.down(e, enemy)
	if deniedOf(w) != 0 {
		t.Error("they outlive the peer")
	}
}

// An operation of which a part was refused still sends its last frame if that notifies: otherwise
// the target would take the next notification for that of this one.
func TestQV01_RefusedOperationsEnd(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 8))
	f.chunk = 1024
	data, old := make([]byte, 200*1024), make([]byte, 200*1024)
	r := start(e, w, operation.Op{Kind: operation.Accumulate, Fn: op.Sum, Elem: op.Int64, Origin: mem.Of(data), Result: mem.Of(old), Notify: operation.Notice(5)}, true)
	for range 1000 {
		sent := f.take()
		if len(sent) == 0 {
			break
		}
		for _, s := range sent {
			if s.h.Flags&wire.ThenNotify != 0 && s.h.Counter() == 5 {
				return
			}
			x := operation.Fault{Class: class.RMARange, Kind: wire.WinAcc}
			h, b := wire.Header{Kind: wire.WinFault, Name: s.h.Name}, make([]byte, operation.FaultSize)
			x.Encode(&h, b)
			deliver(e, h, b)
		}
		e.Work()
	}
	t.Errorf("the last frame has not been sent; done: %v", r.Done())
}
