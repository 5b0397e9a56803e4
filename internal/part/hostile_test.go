package part

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// fakeFabric is a fabric whose peers are the test.
type fakeFabric struct {
	full  bool // refuses frames
	polls int
	sent  []sentFrame
	lost  []int // peers that the engine has taken down, before the call of Down
}

type sentFrame struct {
	to      int
	h       wire.Header
	payload []byte
}

func (f *fakeFabric) Name() string  { return "fake" }
func (f *fakeFabric) EagerMax() int { return 1000 }
func (f *fakeFabric) ChunkMax() int { return 500 }
func (f *fakeFabric) Send(to int, h *wire.Header, payload []byte) bool {
	if int(h.Size) != len(payload) || h.Check() != nil {
		panic("the engine sends a frame that no receiver takes")
	}
	if !f.full {
		f.sent = append(f.sent, sentFrame{to, *h, bytes.Clone(payload)})
	}
	return !f.full
}
func (f *fakeFabric) Poll(fabric.Sink, int) int { f.polls++; return 0 }
func (f *fakeFabric) Arm()                      {}
func (f *fakeFabric) Disarm()                   {}
func (f *fakeFabric) Sleep()                    {}
func (f *fakeFabric) Wake()                     {}
func (f *fakeFabric) Close() error              { return nil }
func (f *fakeFabric) Lose(peer int, _ error)    { f.lost = append(f.lost, peer) }

// take returns the frames that were sent, and forgets them.
func (f *fakeFabric) take() []sentFrame {
	s := f.sent
	f.sent = nil
	return s
}

// victim is a process whose peers 1 and 2 are the test.
type victim struct {
	*Engine
	fabric *fakeFabric
	comm   *comm.Comm
}

// newVictim makes a process, and returns it with its lock held.
func newVictim(t testing.TB) *victim {
	t.Helper()
	f := &fakeFabric{}
	p, err := proc.New(boot.Memory(3)[0], nil, f, proc.Policy{Yield: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	e := New(p, p2p.New(p), store.New(nil))
	p.Lock()
	return &victim{e, f, comm.New(p, 2, 0, []int32{0, 1, 2})}
}

func (v *victim) deliver(from int, h wire.Header, payload []byte) {
	h.Size = uint32(len(payload))
	v.Frame(from, &h, payload)
}

const guard = 0xa5

// guarded is n bytes of memory that a test can look around.
func guarded(n int) (mem, all []byte) {
	all = bytes.Repeat([]byte{guard}, n+128)
	return all[64 : 64+n : 64+n], all
}

// announcement is a PartInit frame for a receive of RecvInit.
func announcement(name, total uint64) wire.Header {
	return wire.Header{Kind: wire.PartInit, Ctx: 2, Tag: 5, Name: name, Arg: total}
}

// recv makes a receive from process 1 in 4 partitions.
func (v *victim) recv(buf []byte) (*p2p.Request, *Recv) {
	q := v.RecvInit(&p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 1, Tag: 5}, mem.Of(buf), 4)
	return q, q.Starter().(*Recv)
}

// S6: data beyond the buffer, more data than the message has, data for a receive of another
// process, of a handle that never was, or while no round is in progress, are dropped.
func TestS6_XPRT01_ForgedData(t *testing.T) {
	v := newVictim(t)
	buf, all := guarded(40)
	q, r := v.recv(buf)
	data := func(from int, name, at uint64, n int) {
		v.deliver(from, wire.Header{Kind: wire.PartData, Name: name, Arg: at}, make([]byte, n))
		h := wire.Header{Kind: wire.PartData, Name: name, Arg: at, Size: uint32(n)}
		if dst := v.Place(from, &h); dst != nil {
			clear(dst)
			v.Placed(from, &h)
		}
	}
	data(1, r.handle, 0, 8) // not matched
	v.deliver(1, announcement(77, 40), []byte{8, 0, 0, 0, 0, 0, 0, 0})
	if sent := v.fabric.take(); len(sent) != 1 || sent[0].h.Kind != wire.PartMatch || sent[0].h.Name != 77 || sent[0].h.Arg != r.handle {
		t.Fatalf("the announcement is answered by %+v", sent)
	}
	data(1, r.handle, 0, 8) // not started
	v.messages.Start(q)
	if sent := v.fabric.take(); len(sent) != 1 || sent[0].h.Kind != wire.PartStart || sent[0].h.Arg != 1 {
		t.Fatalf("the start sends %+v", sent)
	}
	data(2, r.handle, 0, 8)
	data(1, r.handle+1, 0, 8)
	data(1, r.handle+1<<32, 0, 8)
	data(1, 0, 0, 8)
	data(1, r.handle, 40, 8)
	data(1, r.handle, 33, 8)
	data(1, r.handle, math.MaxUint64-3, 8)
	data(1, r.handle, 1<<63, 8)
	data(1, r.handle, 0, 48)
	for i, b := range all {
		if b != guard {
			t.Fatalf("byte %d has become %#x", i-64, b)
		}
	}
	if q.Done() || r.received != 0 {
		t.Fatalf("%d bytes have been counted", r.received)
	}
	// Overlapping data are counted once too often, at most to the end of the round.
	for range 3 {
		v.deliver(1, wire.Header{Kind: wire.PartData, Name: r.handle, Arg: 8}, make([]byte, 20))
	}
	if !q.Done() || r.received != 40 {
		t.Errorf("%d bytes have been counted, done %v", r.received, q.Done())
	}
	if len(v.fabric.lost) != 0 {
		t.Errorf("%v are taken down", v.fabric.lost)
	}
}

// S5: frames that no correct process sends take their sender down.
func TestS5_XPRT01_ProtocolErrors(t *testing.T) {
	match := (&where{parts: 1}).append(nil)
	for name, frame := range map[string]struct {
		h       wire.Header
		payload []byte
	}{
		"length":           {announcement(1, 1<<63), make([]byte, 8)},
		"name":             {announcement(0, 1), make([]byte, 8)},
		"payload":          {announcement(1, 1), make([]byte, 7)},
		"tag":              {wire.Header{Kind: wire.PartInit, Ctx: 2, Tag: -1, Name: 1}, make([]byte, 8)},
		"short where":      {wire.Header{Kind: wire.PartMatch, Name: 1}, match[:31]},
		"no partitions":    {wire.Header{Kind: wire.PartMatch, Name: 1}, (&where{parts: 1 << 40}).append(nil)},
		"no class":         {wire.Header{Kind: wire.PartFail, Name: 1}, nil},
		"class of no name": {wire.Header{Kind: wire.PartFail, Name: 1, Aux: uint32(class.LastPredefined) + 1}, nil},
	} {
		v := newVictim(t)
		v.deliver(1, frame.h, frame.payload)
		if len(v.fabric.lost) != 1 || v.fabric.lost[0] != 1 {
			t.Errorf("%s: taken down are %v", name, v.fabric.lost)
		}
	}
	v := newVictim(t)
	for i := range uint64(unmatchedMax) {
		v.deliver(1, announcement(i+1, 8), make([]byte, 8))
	}
	if len(v.fabric.lost) != 0 {
		t.Error("a peer is taken down that keeps to the limit")
	}
	v.deliver(1, announcement(1, 8), make([]byte, 8))
	if len(v.fabric.lost) != 1 {
		t.Error("a peer may announce more sends than the limit")
	}
	v.Down(1, errors.New("it has ended"))
	if n := v.table.Unexpected(); n != 0 {
		t.Errorf("%d announcements of a dead process are left", n)
	}
}

// A program that makes more sends than are received gets an error, not an endless list.
func TestXPRT01_UnmatchedSendsAreLimited(t *testing.T) {
	v := newVictim(t)
	env := &p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 1, Tag: 5}
	for range unmatchedMax {
		q, err := v.SendInit(env, mem.Of(nil), 1)
		if err != nil {
			t.Fatal(err)
		}
		q.Starter().(*Send).Free()
	}
	if _, err := v.SendInit(env, mem.Of(nil), 1); err == nil || err.(*class.Error).Class != class.NoMem {
		t.Errorf("one more is %v", err)
	}
	v.deliver(1, wire.Header{Kind: wire.PartMatch, Name: 1}, (&where{}).append(nil))
	if _, err := v.SendInit(env, mem.Of(nil), 1); err != nil {
		t.Errorf("after a match: %v", err)
	}
}

// Over frames, neighbours that are ready at the same time travel together, also when the fabric
// has no room for a while; and nothing travels before the receiver has started the round.
func TestXPRT01_NeighboursTravelTogether(t *testing.T) {
	v := newVictim(t)
	buf := make([]byte, 100*8)
	for i := range buf {
		buf[i] = byte(i * 7)
	}
	q, err := v.SendInit(&p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 1, Tag: 5}, mem.Of(buf), 100)
	if err != nil {
		t.Fatal(err)
	}
	s := q.Starter().(*Send)
	v.deliver(1, wire.Header{Kind: wire.PartMatch, Name: s.handle, Arg: 9}, (&where{parts: 2}).append(nil))
	v.messages.Start(q)
	v.fabric.take()
	ready := func(list ...int) {
		t.Helper()
		v.p.Unlock()
		defer v.p.Lock()
		for _, i := range list {
			if err := s.Ready(i, i+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := make([]byte, len(buf))
	expect := func(bounds ...int) { // of frames, in partitions
		t.Helper()
		for i := 0; i < 10 && v.Work() > 0; i++ {
		}
		sent := v.fabric.take()
		if len(sent) != len(bounds)/2 {
			t.Fatalf("%d frames, want %d: %+v", len(sent), len(bounds)/2, sent)
		}
		for i, f := range sent {
			if f.h.Kind != wire.PartData || f.h.Name != 9 || f.h.Arg != uint64(8*bounds[2*i]) || len(f.payload) != 8*(bounds[2*i+1]-bounds[2*i]) {
				t.Errorf("frame %d is %+v with %d bytes, want partitions %d to %d", i, f.h, len(f.payload), bounds[2*i], bounds[2*i+1])
			}
			copy(got[f.h.Arg:], f.payload)
		}
	}
	ready(31, 30, 33, 32, 70)
	expect()
	v.deliver(1, wire.Header{Kind: wire.PartStart, Name: s.handle, Arg: 2}, nil) // of another round
	expect()
	v.deliver(1, wire.Header{Kind: wire.PartStart, Name: s.handle, Arg: 1}, nil)
	expect(30, 34, 70, 71)
	ready(29)
	expect(29, 30)
	v.fabric.full = true
	ready(0, 1, 2, 3, 4)
	expect()
	v.fabric.full = false
	// The first frame was refused, and must come first; the others are neighbours.
	v.p.Progress(-1)
	expect(0, 1, 1, 5)
	if q.Done() {
		t.Fatal("the send is complete")
	}
	var rest []int
	for i := 5; i < 100; i++ {
		if i < 29 || i > 33 && i != 70 {
			rest = append(rest, i)
		}
	}
	ready(rest...)
	for i := 0; i < 100 && v.Work() > 0; i++ {
	}
	for _, f := range v.fabric.take() {
		copy(got[f.h.Arg:], f.payload)
	}
	if !q.Done() || !bytes.Equal(got, buf) {
		t.Errorf("done %v, the same bytes %v", q.Done(), bytes.Equal(got, buf))
	}
}

// A request says which of its partitions are ready, until it is freed: then it is used for another
// operation.
func TestXPRT01_WhatWaitsForIt(t *testing.T) {
	v := newVictim(t)
	name := "world"
	v.comm.Name.Store(&name)
	q, err := v.SendInit(&p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 1, Tag: 5}, mem.Of(make([]byte, 6)), 3)
	if err != nil {
		t.Fatal(err)
	}
	s := q.Starter().(*Send)
	v.messages.Start(q)
	v.p.Unlock()
	if err := s.Ready(1, 2); err != nil {
		t.Fatal(err)
	}
	v.p.Lock()
	r, _ := v.recv(make([]byte, 8))
	for want, got := range map[string][]byte{
		"PsendInit on world to 1 tag 5, 1 of 3 partitions ready":     q.About.AppendAbout(nil),
		"PrecvInit on world from 1 tag 5, 4 of 4 partitions arrived": r.About.AppendAbout(nil), // not started
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	v.messages.Start(r)
	if got, want := string(r.About.AppendAbout(nil)), "PrecvInit on world from 1 tag 5, 0 of 4 partitions arrived"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	v.Down(1, errors.New("it has ended"))
	for _, x := range []*p2p.Request{q, r} {
		if !x.Done() {
			t.Fatal("a request with a dead process is not complete")
		}
		_ = v.messages.Take(x) // the error that the process has died
		x.Starter().(interface{ Free() }).Free()
		if x.About != x {
			t.Errorf("a request that has been freed says that it is %s", x.About.AppendAbout(nil))
		}
	}
}

// S6: no sequence of frames panics, writes outside a buffer, or completes what is not active.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{5, 0, 1, 0, 0, 40, 1, 6, 0, 2, 0, 1, 1, 3, 1, 0, 0, 0, 0, 20, 3, 1, 0, 0, 0, 20, 20})
	f.Fuzz(func(t *testing.T, data []byte) {
		v := newVictim(t)
		defer v.p.Unlock()
		next := func() byte {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return b
		}
		buf, all := guarded(40)
		q, _ := v.recv(buf)
		out := make([]byte, 60)
		s, err := v.SendInit(&p2p.Envelope{Comm: v.comm, Ctx: 2, Peer: 1, Tag: 5}, mem.Of(out), 6)
		if err != nil {
			t.Fatal(err)
		}
		requests := []*p2p.Request{q, s}
		for len(data) > 0 {
			if len(v.fabric.lost) > 0 {
				for _, peer := range v.fabric.lost {
					v.messages.Down(peer, errors.New("it has ended"))
				}
				return
			}
			switch next() % 8 {
			case 0, 1, 2, 3:
				h := wire.Header{Kind: wire.PartInit + wire.Kind(next()%5), Flags: next() % 2, Ctx: 2, Tag: 5, Aux: uint32(next() % 20)}
				name := func() uint64 {
					if b := next(); b < 200 {
						return 1<<32 | uint64(b%3)
					}
					return uint64(next())
				}
				h.Name, h.Arg = name(), uint64(next()%64)
				if h.Kind == wire.PartMatch {
					h.Arg = name()
				}
				payload := make([]byte, next()%64)
				if h.Kind == wire.PartInit {
					payload = binary.LittleEndian.AppendUint64(nil, uint64(next()))
				}
				if h.Kind == wire.PartMatch && next()%8 > 0 {
					payload = (&where{parts: uint64(next() % 8), block: uint64(next()), buffer: uint64(next())}).append(nil)
				}
				v.deliver(1+int(next()%2), h, payload)
			case 4:
				h := wire.Header{Kind: wire.PartData, Name: 1<<32 | uint64(next()%2), Arg: uint64(next() % 64), Size: uint32(next() % 64)}
				if dst := v.Place(1, &h); dst != nil {
					clear(dst)
					v.Placed(1, &h)
				}
			case 5:
				if r := requests[next()%2]; !r.Active {
					v.messages.Start(r)
				}
			case 6:
				lo, hi := int(next()%7), int(next()%8)
				v.p.Unlock()
				_ = s.Starter().(*Send).Ready(lo, hi) // wrong ones are errors
				v.p.Lock()
				v.Work()
			case 7:
				if r := requests[next()%2]; r.Active && r.Done() {
					_ = v.messages.Take(r) // an error of the peer's
				}
				v.fabric.full = next()%4 == 0
				v.p.Progress(-1)
			}
		}
		for i, b := range all {
			if (i < 64 || i >= 64+len(buf)) && b != guard {
				t.Fatalf("byte %d has become %#x", i-64, b)
			}
		}
	})
}
