package shm_test

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/wire"
)

// calls records what a fabric asks of the connection with a foreign process.
type calls struct {
	rung int
	lost []error
}

func (c *calls) Ring(int)                { c.rung++ }
func (c *calls) Lose(_ int, cause error) { c.lost = append(c.lost, cause) }

// lone opens the fabric of the only process of a node, in a job of two.
func lone(t *testing.T) *shm.Fabric {
	t.Helper()
	w, err := inproc.NewNode([]int{0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	n, err := w.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	f := shm.New(n)
	t.Cleanup(func() { f.Close() })
	return f
}

// acquaint has two fabrics share memory; each calls the process of the other one by the number given. It returns the
// calls of a, those of b, and the memory at a's end.
func acquaint(t *testing.T, a, b *shm.Fabric, numberOfB, numberOfA int) (*calls, *calls, *pair.Memory) {
	t.Helper()
	left, right := net.Pipe()
	defer left.Close()
	defer right.Close()
	taken := make(chan *pair.Memory)
	go func() {
		m, _, _ := pair.Take(right, true)
		taken <- m
	}()
	m, why, failed := pair.Offer(left, true)
	other := <-taken
	if m == nil || other == nil {
		t.Fatal(why, failed)
	}
	var x, y calls
	a.Attach(numberOfB, m, &x)
	b.Attach(numberOfA, other, &y)
	return &x, &y, m
}

// Foreign processes come and go: frames come from the process that has sent them, and the places of processes
// that have gone are used again.
func TestForeignProcessesComeAndGo(t *testing.T) {
	server := lone(t)
	for round := range 3 {
		var clients []*shm.Fabric
		for i := range 3 {
			clients = append(clients, lone(t))
			acquaint(t, server, clients[i], 10+2*i, 2+round)
		}
		for i, c := range clients {
			send(t, c, 2+round, uint64(100+i))
			send(t, server, 10+2*i, uint64(200+i))
		}
		var s tally
		for range 3 {
			server.Poll(&s, -1)
		}
		if want := []int{10, 12, 14}; !slices.Equal(s.from, want) || !slices.Equal(s.args, []uint64{100, 101, 102}) {
			t.Errorf("frames %v from %v, want them from %v", s.args, s.from, want)
		}
		for i, c := range clients {
			var s tally
			c.Poll(&s, -1)
			if len(s.args) != 1 || s.args[0] != uint64(200+i) || s.from[0] != 2+round {
				t.Errorf("client %d: frames %v from %v", i, s.args, s.from)
			}
			if h, _ := c.Peek(2+round, 1, new(atomic.Int32)); h != nil {
				t.Errorf("client %d: another frame", i)
			}
		}
		for i := range clients {
			server.Detach(10 + 2*i)
			server.Detach(10 + 2*i) // nothing is left
		}
		if n := server.Drain(10, &s); n != 0 || server.CanRead(10) || server.Read(10, nil, 0) == nil {
			t.Errorf("a process that is not attached: %d frames", n)
		}
	}
}

// A foreign process is rung once when it is armed, and also when there is room again for a frame of it that
// was refused.
func TestForeignProcessesAreRung(t *testing.T) {
	a, b := lone(t), lone(t)
	calls, back, _ := acquaint(t, a, b, 2, 2)
	send(t, a, 2, 1)
	send(t, a, 2, 2)
	if calls.rung != 1 { // armed since Attach
		t.Fatalf("rung %d times, want 1", calls.rung)
	}
	var s tally
	b.Arm()
	b.Disarm()
	send(t, a, 2, 3)
	if calls.rung != 1 {
		t.Fatalf("rung %d times while it was not armed", calls.rung-1)
	}
	b.Arm()
	send(t, a, 2, 4)
	if calls.rung != 2 {
		t.Fatalf("rung %d times, want 2", calls.rung)
	}
	b.Drain(2, &s) // b has been rung, and is still armed
	send(t, a, 2, 5)
	if calls.rung != 3 {
		t.Fatalf("rung %d times, want 3", calls.rung)
	}
	b.Disarm()
	sent := 5
	for a.Send(2, &wire.Header{Kind: wire.Eager, Arg: uint64(sent + 1)}, nil) {
		sent++
	}
	a.Arm()
	for len(s.args) < sent {
		if b.Poll(&s, -1) == 0 {
			t.Fatalf("%d frames of %d", len(s.args), sent)
		}
	}
	for i, v := range s.args {
		if v != uint64(i+1) {
			t.Fatalf("frame %d is %d", i+1, v)
		}
	}
	if back.rung == 0 {
		t.Error("a process that waits for room was not rung")
	}
	if !a.Send(2, &wire.Header{Kind: wire.Eager}, nil) {
		t.Error("no room in an empty ring")
	}
	// Sleep also returns if there was room again before Arm.
	for a.Send(2, &wire.Header{Kind: wire.Eager}, nil) {
	}
	a.Disarm()
	for b.Poll(&s, -1) > 0 {
	}
	slept := make(chan struct{})
	a.Arm()
	go func() {
		a.Sleep()
		close(slept)
	}()
	<-slept
}

// A foreign process that breaks the format of the ring is lost, and no other process. Frames to it are dropped.
func TestS5_BrokenRingOfAForeignProcess(t *testing.T) {
	a, b, c := lone(t), lone(t), lone(t)
	calls, _, m := acquaint(t, a, b, 2, 2)
	others, _, _ := acquaint(t, a, c, 3, 2)
	huge := wire.Header{Kind: wire.Eager, Size: 1 << 20}
	huge.Encode(m.In()[4096:])
	send(t, c, 2, 7)
	var s tally
	for range 3 {
		a.Poll(&s, -1)
	}
	if len(calls.lost) != 1 || len(others.lost) != 0 || len(s.args) != 1 || s.args[0] != 7 {
		t.Fatalf("lost %v and %v, frames %v", calls.lost, others.lost, s.args)
	}
	for range 5000 {
		send(t, a, 2, 1)
	}
	a.Detach(2)
}
