package rma

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// QV-32: if the table of handles of a process of the node cannot be mapped, because addresses are
// used up, that process resolves handles itself.
func TestQV32_TablesThatCannotBeMapped(t *testing.T) {
	e, w, _ := withFakePeers(t, Dynamic, make([]byte, 8))
	e.p.Unlock() // as withFakePeers has it
	defer e.p.Lock()
	to, err := w.target(1)
	if err != nil {
		t.Fatal(err)
	}
	page, _, err := w.newPage(shmfmt.WindowSize(1))
	if err != nil {
		t.Fatal(err)
	}
	to.control, err = shmfmt.FormatWindow(page, w.id, 1)
	if err != nil {
		t.Fatal(err)
	}
	e.node = &node.Node{} // maps nothing
	to.view = e.node.View(int(to.Process))
	handle := (&memhandle.Handle{Process: to.brief, Window: w.id, Key: memhandle.Space | 5<<32, Size: 64}).Append(nil)
	v := newView(w)
	v.options.Store(&Options{})
	_, err = v.FromHandle(handle, -1, 1, 1)
	failedWith(t, err, class.RMARange) // it has never made one
	to.control.HandleDir().Store(1)
	if u, err := v.FromHandle(handle, -1, 1, 1); err != nil || u.handle.live != nil {
		t.Errorf("a table that cannot be mapped: %v", err)
	}
}

// S5, QV-32: a peer that forges a handle with a valid check, or sends frames with made-up keys,
// gets an error from the target's service and accesses nothing; accesses by a live handle are
// served.
func TestS5_QV32_ForgedKeys(t *testing.T) {
	mem := make([]byte, 100)
	e, w, f := withFakePeers(t, Dynamic, make([]byte, 8))
	v := newView(w)
	e.p.Unlock() // as withFakePeers has it
	handle, err := v.AppendHandle(nil, mem)
	e.p.Lock()
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := w.parseHandle(handle, victim)
	if err != nil {
		t.Fatal(err)
	}
	put := func(at uint64, n int) *wire.Header {
		t.Helper()
		f.take()
		data := make([]byte, n)
		for i := range data {
			data[i] = 1
		}
		e.Frame(enemy, &wire.Header{Kind: wire.WinPut, Ctx: w.id, Arg: at, Size: uint32(n)}, data)
		if sent := f.take(); len(sent) > 0 {
			return &sent[0].h
		}
		return nil
	}
	if h := put(x.Key+90, 10); h != nil || mem[99] != 1 {
		t.Fatalf("a put within the memory of a handle is answered with %+v", h)
	}
	clear(mem)
	for _, at := range []uint64{x.Key + 91, x.Key - 1, x.Key + 100, x.Key + 1<<33, x.Key &^ memhandle.Space, memhandle.Space, 1<<64 - 10} {
		if h := put(at, 10); h == nil || h.Kind != wire.WinFault || class.Class(h.Aux) != class.RMARange {
			t.Errorf("a put at %#x, the key being %#x, is answered with %+v", at, x.Key, h)
		}
	}
	larger := x
	larger.Size = 1000
	own := func(x memhandle.Handle) error {
		e.p.Unlock()
		defer e.p.Lock()
		_, err := v.FromHandle(x.Append(nil), -1, 1, victim)
		return err
	}
	failedWith(t, own(larger), class.RMARange)
	other := x
	other.Key ^= 1 << 40
	failedWith(t, own(other), class.RMARange)
	foreign := x
	foreign.Process = e.p.Brief(stranger)
	failedWith(t, own(foreign), class.Arg)
	e.p.Unlock()
	err = v.ReleaseHandle(handle)
	e.p.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if h := put(x.Key, 10); h == nil || h.Kind != wire.WinFault {
		t.Errorf("a put after the release is answered with %+v", h)
	}
	for i, b := range mem {
		if b != 0 {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}

// QV-35: operations by a memory handle send as many frames as those in a window over memory of the
// target, of the same kinds and lengths: only the address differs.
func TestQV35_HandlesSendWhatOtherWindowsSend(t *testing.T) {
	type frame struct {
		kind wire.Kind
		size uint32
	}
	sent := func(flavor Flavor) (frames []frame) {
		e, w, f := withFakePeers(t, flavor, make([]byte, 1<<20))
		v := viewOf(w, Options{Ordering: Ordered})
		e.p.Unlock() // as withFakePeers has it
		defer e.p.Lock()
		err := v.LockAll(ModeNoCheck)
		if flavor == Dynamic && err == nil {
			h := memhandle.Handle{Process: e.p.Brief(enemy), Window: w.id, Key: memhandle.Space | 1<<40, Size: 1 << 20}
			v, err = v.FromHandle(h.Append(nil), -1, 1, w.Comm.RankOf(enemy))
		}
		const target = 1
		short, long, number := make([]byte, 8), make([]byte, 5000), op.Uint64
		for _, do := range []func() error{
			func() error { return v.Put(mem.Of(short), target, 8, operation.Place{}) },
			func() error { return v.Put(mem.Of(short), target, 32, operation.Place{}) },
			func() error { return v.Put(mem.Of(long), target, 16, operation.Place{}) },
			func() error { return v.Get(mem.Of(long), target, 16, operation.Place{}) },
			func() error { return v.Accumulate(mem.Of(long), target, 16, operation.Place{}, op.Sum, number) },
			func() error { return v.FetchAndOp(short, make([]byte, 8), target, 8, op.Sum, number) },
			func() error { return v.CompareAndSwap(short, short, make([]byte, 8), target, 8, number) },
			func() error { _, err := v.Rflush(target); return err },
		} {
			if err == nil {
				err = do()
			}
			e.p.Lock()
			e.p.Progress(-1)
			e.Work()
			for _, x := range f.take() {
				frames = append(frames, frame{x.h.Kind, x.h.Size})
			}
			e.p.Unlock()
		}
		if err != nil {
			t.Fatal(err)
		}
		return frames
	}
	created, handle := sent(Created), sent(Dynamic)
	if len(created) < 7 || !slices.Equal(created, handle) {
		t.Errorf("a window sends %v\nthat of a handle %v", created, handle)
	}
}
