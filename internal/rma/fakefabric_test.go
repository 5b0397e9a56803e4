package rma

import (
	"bytes"
	"errors"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// The processes of a job of fake peers: only the first has an engine, and the test sends what
// it likes in the name of the others.
const (
	victim = iota
	enemy
	stranger // not in the window
	parties
)

// fakeFabric is a fabric whose peers are the test.
type fakeFabric struct {
	full    bool // refuses frames
	chunk   int  // ChunkMax
	partial bool // the one on offer has been refused
	offered wire.Header
	sent    []sentFrame
	holds   bool        // it holds frames, as far as the engine allows
	held    []sentFrame // accepted, and not sent yet
	calls   int         // times that frames have been sent, one or several
	lost    []int       // peers that the engine has taken down, not yet told as Down
	poll    func()      // called in each poll, unless it is nil
}

type sentFrame struct {
	to      int
	h       wire.Header
	payload []byte
}

func (f *fakeFabric) Name() string  { return "fake" }
func (f *fakeFabric) EagerMax() int { return 1000 }
func (f *fakeFabric) ChunkMax() int { return f.chunk }
func (f *fakeFabric) Send(to int, h *wire.Header, payload []byte) bool {
	if int(h.Size) != len(payload) || h.Check() != nil {
		panic("the engine sends a frame that no receiver takes")
	}
	if f.partial && *h != f.offered {
		panic("another frame is offered than the one that was refused")
	}
	f.partial = f.full
	if f.full {
		f.offered = *h
		return false
	}
	f.held = append(f.held, sentFrame{to, *h, bytes.Clone(payload)})
	f.Release(to)
	return true
}

// Hold implements fabric.Holder.
func (f *fakeFabric) Hold(to int, h *wire.Header, payload []byte) bool {
	if !f.holds {
		return false
	}
	f.held = append(f.held, sentFrame{to, *h, bytes.Clone(payload)})
	return true
}

// Release implements fabric.Holder.
func (f *fakeFabric) Release(int) {
	if len(f.held) > 0 {
		f.calls++
		f.sent, f.held = append(f.sent, f.held...), nil
	}
}

func (f *fakeFabric) Poll(fabric.Sink, int) int {
	if f.poll != nil {
		f.poll()
	}
	return 0
}
func (f *fakeFabric) Arm()                   {}
func (f *fakeFabric) Disarm()                {}
func (f *fakeFabric) Sleep()                 {}
func (f *fakeFabric) Wake()                  {}
func (f *fakeFabric) Close() error           { return nil }
func (f *fakeFabric) Lose(peer int, _ error) { f.lost = append(f.lost, peer) }

// take returns the frames that were sent, and forgets them.
func (f *fakeFabric) take() []sentFrame {
	s := f.sent
	f.sent = nil
	return s
}

// errEnd is why a peer of a job of fake peers has died.
var errEnd = errors.New("it has ended")

// window is the id of the window of a job of fake peers.
const window = 64

// withFakePeers makes an engine and a window of it with the enemy: over mem, or dynamic with mem
// attached if flavor says so. The engine's lock is held until the test ends.
func withFakePeers(t testing.TB, flavor Flavor, mem []byte) (*Engine, *Window, *fakeFabric) {
	t.Helper()
	return withFakePeersAnd(t, flavor, mem, proc.Policy{Yield: func() {}})
}

// withFakePeersAnd is withFakePeers with a policy of waiting.
func withFakePeersAnd(t testing.TB, flavor Flavor, mem []byte, policy proc.Policy) (*Engine, *Window, *fakeFabric) {
	t.Helper()
	f := &fakeFabric{chunk: 512}
	p, err := proc.New(boot.Memory(parties)[victim], nil, f, policy)
	if err != nil {
		t.Fatal(err)
	}
	messages := p2p.New(p)
	e := New(p, messages, coll.New(p, messages, choice.Defaults()), store.New(nil))
	w := e.newWindow(comm.New(p, window, victim, []int32{victim, enemy}), window, flavor)
	n, me := e.locals()
	page, _, err := w.newPage(shmfmt.WindowSize(n))
	if err == nil {
		w.control, err = shmfmt.FormatWindow(page, w.id, n)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := make([]byte, 2*entrySize)
	for r := range 2 {
		x := entry{unit: 1, size: int64(len(mem)), where: nowhere, control: nowhere}
		if flavor == Dynamic {
			x.size = 0
		}
		x.encode(all[r*entrySize:])
	}
	w.table = newTable(all)
	e.windows[w.id] = w
	if flavor == Dynamic {
		w.attaches()
		w.own = e.region(nil, w.control, me)
		v := newView(w)
		if err := v.Attach(mem, nil); err != nil {
			t.Fatal(err)
		}
	} else {
		w.mem = mem
		w.own = e.region(mem, w.control, me)
	}
	p.Lock()
	t.Cleanup(p.Unlock)
	w.open()
	return e, w, f
}

// down tells the engine that a peer has died.
func (f *fakeFabric) down(e *Engine, peer int) {
	e.messages.Down(peer, errEnd)
	e.PeerFailed(peer) // as the process does with its workers
}

// start gives an operation to the enemy to the engine.
func start(e *Engine, w *Window, a operation.Op, request bool) *p2p.Request {
	o := e.link.NewOperation(&to(w).Target, 0, &a, uint64(a.Disp), link.Traits{})
	if request {
		o.Request = e.messages.NewRequest(w.Comm, call.Put)
	}
	r := o.Request
	e.link.Send(o)
	return r
}

// to is the enemy as a target.
func to(w *Window) *target {
	t, err := w.targetLocked(enemy)
	if err != nil {
		panic(err)
	}
	return t
}

// failedWith expects an error of a class.
func failedWith(t *testing.T, err error, c class.Class) {
	t.Helper()
	var e *class.Error
	if !errors.As(err, &e) || e.Class != c {
		t.Errorf("error %v, want one of class %d", err, c)
	}
}
