package proc_test

import (
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// early is a fabric whose only frame arrives before Arm and therefore rings no doorbell: the caller
// of Arm must poll once more.
type early struct {
	fabric.Fabric // no other method is called
	armed         bool
	delivered     bool
	closed        chan struct{}
}

func (f *early) Arm()    { f.armed = true }
func (f *early) Disarm() { f.armed = false }
func (f *early) Wake()   {}
func (f *early) Sleep()  { <-f.closed }

func (f *early) Close() error {
	close(f.closed)
	return nil
}

func (f *early) Poll(s fabric.Sink, _ int) int {
	if !f.armed || f.delivered {
		return 0
	}
	f.delivered = true
	s.Frame(2, &wire.Header{Kind: wire.User}, nil)
	return 1
}

// besideEarly returns process 0, with process 1 in memory and process 2 behind far. It is not started.
func besideEarly(t *testing.T, far *early, policy proc.Policy) *proc.Proc {
	t.Helper()
	w, err := inproc.NewNode([]int{0, 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	node, err := w.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.New(boot.Memory(3)[0], node, far, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A process with peers in memory and on other nodes polls both fabrics after Arm and before it sleeps, as
// the contract of Arm demands, although it polls sockets seldom otherwise.
func TestBothFabricsAreLookedAtAfterArming(t *testing.T) {
	p := besideEarly(t, &early{closed: make(chan struct{})}, proc.Policy{Loads: 4, Yields: shortly, Yield: runtime.Gosched})
	var e proc.Event
	p.Start(&frames{fn: func(int, *wire.Header) { e.Fire() }})
	done := waiter(p, &e, nil)
	hung, stop := testrun.Context(t.Context())
	defer stop()
	select {
	case <-done:
	case <-hung.Done():
		t.Error("a process sleeps over a frame that came before it armed")
		p.Lock()
		e.Fire()
		p.Unlock()
		<-done
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

// A waiter for a frame from another node polls less often before it yields than one for a frame from memory, since each
// of its polls is a system call.
func TestWaitersPollSocketsLessOften(t *testing.T) {
	for hint, want := range map[int]int64{1: 1600, 2: 1600 / proc.SocketPolls} {
		var c polls
		var e proc.Event
		var polled int64
		yield := func() {
			if !e.Done() { // the lock is held
				polled = c.n.Load()
				e.Fire()
			}
		}
		p := besideEarly(t, &early{delivered: true, closed: make(chan struct{})}, proc.Policy{Loads: 1600, Yields: shortly, Yield: yield})
		p.Start(&frames{fn: func(int, *wire.Header) {}}, &c)
		p.Lock()
		p.SetBusy(1)
		p.Wait(&e, hint)
		p.SetBusy(-1)
		p.Unlock()
		if polled < want || polled > 2*want { // services poll, too
			t.Errorf("awaiting process %d: %d polls before the first yield, want %d", hint, polled, want)
		}
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
}
