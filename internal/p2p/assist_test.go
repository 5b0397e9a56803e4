package p2p

import (
	"bytes"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/wire"
)

// assisted is two processes on k of which a sender assists.
func assisted(t *testing.T, k *kernel) (from, to *Engine, c, d *comm.Comm) {
	t.Helper()
	boots := boot.Memory(2)
	from, c = k.open(t, boots[0], 0, 2)
	to, d = k.open(t, boots[1], 1, 2)
	from.assisted, to.assisted = true, true
	return from, to, c, d
}

// exchange sends a message of size bytes, and reports an error if something else arrives.
func exchange(t *testing.T, from, to *Engine, c, d *comm.Comm, size int, seed byte) {
	t.Helper()
	sent := make([]byte, size)
	for i := range sent {
		sent[i] = byte(i*7) + byte(i>>12) + seed
	}
	done := make(chan error, 1)
	go func() { done <- from.Send(c, Standard, dtype.Mixed, sent, 1, 5) }()
	got := make([]byte, size)
	var s Status
	to.Recv(d, got, 0, 5, &s)
	if s.Err != nil || s.Bytes != uint64(size) || !bytes.Equal(got, sent) {
		t.Errorf("of %d bytes %d are received, the same ones: %t; %v", size, s.Bytes, bytes.Equal(got, sent), s.Err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A sender that waits copies a part of a long message. The receiver waits for it, however long it takes.
func TestSendersAssist(t *testing.T) {
	k := newKernel(t, 2, 1<<40)
	var written, late atomic.Int64
	k.write = func(dst, src []byte) error {
		if len(src) >= 1000 { // not a probe
			for range late.Load() {
				runtime.Gosched()
			}
			written.Add(int64(len(src)))
		}
		copy(dst, src)
		return nil
	}
	from, to, c, d := assisted(t, k)
	for i, size := range []int{assistMin, assistMin + 1, 64 << 10, 128<<10 - 1, 1 << 20, 3<<20 + 5} {
		for n := range 20 {
			late.Store(int64(n%2) * 2000)
			exchange(t, from, to, c, d, size, byte(i+n))
		}
	}
	if written.Load() == 0 {
		t.Error("no sender has assisted")
	}
	written.Store(0)
	exchange(t, from, to, c, d, assistMin-1, 3)
	if written.Load() != 0 {
		t.Errorf("a sender has copied %d bytes of a short message", written.Load())
	}
	from.assisted, to.assisted = false, false
	if len(from.assistances) != 0 || to.peers.At(0).pulling != nil {
		t.Error("an assistance is left over")
	}
	exchange(t, from, to, c, d, 1<<20, 4)
	if written.Load() != 0 {
		t.Errorf("with more processes than cores a sender has copied %d bytes", written.Load())
	}
}

// A sender that does nothing for the message assists with nothing, and nobody waits for it.
func TestSenderThatComputesDoesNotAssist(t *testing.T) {
	k := newKernel(t, 2, 1<<40)
	k.write = func(dst, src []byte) error { copy(dst, src); return nil }
	from, to, c, d := assisted(t, k)
	sent, got := bytes.Repeat([]byte("long"), 64<<10), make([]byte, 256<<10)
	from.p.Lock()
	r := from.Isend(&Envelope{Comm: c, Ctx: c.Ctx, Peer: 1, Tag: 5}, mem.Of(sent))
	var s Status
	to.Recv(d, got, 0, 5, &s) // while from can do nothing
	if s.Err != nil || !bytes.Equal(got, sent) {
		t.Errorf("not received: %v", s.Err)
	}
	if !r.Done() {
		from.p.Wait(&r.Event, 1)
	}
	from.Free(r)
	from.p.Unlock()
	exchange(t, from, to, c, d, 1<<20, 9)
}

// If the kernel refuses to read or to write in the middle, the sender streams the whole message.
func TestRefusedAssistanceIsStreamed(t *testing.T) {
	for _, reads := range []int64{1, 2, 3, 5, 9} { // the first is that of the probe
		for _, writes := range []int64{1, 2, 4, 100} {
			k := newKernel(t, 2, reads)
			var left atomic.Int64
			left.Store(writes)
			k.write = func(dst, src []byte) error {
				if left.Add(-1) < 0 {
					return errors.New("the kernel refuses")
				}
				copy(dst, src)
				return nil
			}
			from, to, c, d := assisted(t, k)
			for n := range 3 {
				exchange(t, from, to, c, d, 1<<20+n, byte(n))
			}
		}
	}
}

// Frames that ask for assistance and that no correct receiver sends are dropped.
func TestForgedAssist(t *testing.T) {
	k := newKernel(t, 2, 1<<40)
	var written atomic.Int64
	k.write = func(dst, src []byte) error {
		if len(src) >= 1000 {
			written.Add(1)
		}
		copy(dst, src)
		return nil
	}
	from, to, c, _ := assisted(t, k)
	sent, room := make([]byte, 1<<20), make([]byte, 1<<20)
	from.p.Lock()
	r := from.Isend(&Envelope{Comm: c, Ctx: c.Ctx, Peer: 1, Tag: 5}, mem.Of(sent))
	name := r.handle
	from.p.Unlock()
	addr := uint64(uintptr(unsafe.Pointer(&room[0])))
	for _, h := range []wire.Header{
		{Name: name + 1<<32, Ctx: 1 << 20},
		{Name: name + 1, Ctx: 1 << 20},
		{Name: name, Ctx: 1<<20 + 1},
		{Name: name, Ctx: 1 << 63},
		{Name: name, Ctx: assistMin - 1},
		{Name: name, Ctx: 1 << 20}, // there are no pieces
		{Name: name, Ctx: 1 << 20, Aux: 1},
	} {
		h.Kind, h.Arg = wire.Assist, addr
		to.p.Lock()
		to.p.Queue(0, &h, nil, nil)
		to.p.Unlock()
	}
	// More pieces are open than the message has.
	to.p.Lock()
	to.p.Node().PiecesFrom(0).Open(9, 1000)
	to.p.Queue(0, &wire.Header{Kind: wire.Assist, Name: name, Ctx: 1 << 20, Arg: addr, Aux: 9}, nil, nil)
	to.p.Queue(0, &wire.Header{Kind: wire.Ack, Name: name}, nil, nil)
	to.p.Unlock()
	from.p.Lock()
	from.p.Wait(&r.Event, 1)
	if r.Status.Err != nil {
		t.Error(r.Status.Err)
	}
	from.Free(r)
	from.p.Unlock()
	if written.Load() != 0 {
		t.Errorf("%d pieces were written", written.Load())
	}
	runtime.KeepAlive(room)
}
