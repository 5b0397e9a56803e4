package tcp

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node/pair"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// sharer records what a fabric asks of Rings, and of its sink, in order.
type sharer struct {
	mem    *pair.Memory
	events []string
	cause  error
}

func (r *sharer) add(what string) {
	if n := len(r.events); n == 0 || r.events[n-1] != what {
		r.events = append(r.events, what)
	}
}

func (r *sharer) Attach(_ int, m *pair.Memory, _ error) {
	r.mem = m
	r.add("attach")
}
func (r *sharer) Drain(int, fabric.Sink) int {
	r.add("drain")
	return 0
}
func (r *sharer) Detach(int) {
	r.add("detach")
	r.mem.Close()
}
func (r *sharer) Frame(_ int, h *wire.Header, _ []byte) {
	if h.Kind == wire.Leave {
		r.add("leave")
	} else {
		r.add("frame")
	}
}
func (r *sharer) Place(int, *wire.Header) []byte { return nil }
func (r *sharer) Placed(int, *wire.Header)       {}
func (r *sharer) Down(_ int, cause error) {
	r.add("down")
	r.cause = cause
}

// sharing returns the fabrics of two jobs of one process each. The processes have met and share memory;
// each calls the other one by number 1.
func sharing(t *testing.T) (f [2]*Fabric, rings [2]*sharer) {
	t.Helper()
	var addrs [2]string
	for i := range f {
		rings[i] = &sharer{}
		var err error
		f[i], addrs[i], err = Listen(Config{Job: boot.Memory(1)[0].Job(), Alone: true, Parted: func(int) { rings[i].add("parted") }, Rings: rings[i]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f[i].Close() })
	}
	ends := [2]string{"x/0", "y/0"}
	for i := range f {
		f[i].Introduce(1, Remote{Name: ends[1-i], Addr: addrs[1-i], First: i == 0,
			In: wire.Between(secret(3), ends[1-i], ends[i]), Out: wire.Between(secret(3), ends[i], ends[1-i])})
	}
	f[0].Reach(1)
	until(t, f, rings, func() bool { return rings[0].mem != nil && rings[1].mem != nil })
	return f, rings
}

// until polls until a condition holds.
func until(t *testing.T, f [2]*Fabric, rings [2]*sharer, holds func() bool) {
	t.Helper()
	for !holds() {
		for i := range f {
			f[i].Poll(rings[i], -1)
		}
		sys.Yield()
	}
}

func (r *sharer) text() string { return strings.Join(r.events, " ") }

// Two processes share memory before any frame. The fabric drains the memory before it delivers a Leave or
// the end of the connection, and when the peer rings (X-DYN-01).
func TestConnectionsBesideMemory(t *testing.T) {
	f, rings := sharing(t)
	rings[0].mem.Out()[0] = 7
	if rings[1].mem.In()[0] != 7 {
		t.Error("the processes share no memory")
	}
	f[0].Ring(1)
	until(t, f, rings, func() bool { return rings[1].text() == "attach drain" })
	f[0].Ring(1)
	if !f[0].Send(1, &wire.Header{Kind: wire.Leave}, nil) {
		t.Fatal("Leave is refused")
	}
	until(t, f, rings, func() bool { return strings.HasSuffix(rings[1].text(), "leave") })
	if f[0].Send(1, &wire.Header{Kind: wire.Eager}, nil) {
		t.Error("a frame behind Leave is accepted")
	}
	f[1].Left(1)
	if !f[1].Send(1, &wire.Header{Kind: wire.Leave}, nil) {
		t.Fatal("Leave is refused")
	}
	until(t, f, rings, func() bool { return strings.HasSuffix(rings[0].text(), "leave") })
	f[0].Left(1)
	until(t, f, rings, func() bool {
		return strings.HasSuffix(rings[0].text(), "parted") && strings.HasSuffix(rings[1].text(), "parted")
	})
	for i, want := range []string{"attach drain leave drain detach parted", "attach drain leave drain detach parted"} {
		if got := rings[i].text(); got != want {
			t.Errorf("process %d: %s, want %s", i, got, want)
		}
	}
}

// A peer that shares memory and sends anything else on the connection is lost, after the frames in memory have been
// delivered. So is a peer that has ended (S5).
func TestS5_ForgedBytesBesideMemory(t *testing.T) {
	for name, end := range map[string]func(f *Fabric){
		"a byte":  func(f *Fabric) { sys.Send(f.routes.At(1).link.fd, []byte{3}) },
		"a frame": func(f *Fabric) { sys.Send(f.routes.At(1).link.fd, make([]byte, wire.HeaderSize)) },
		"the end": func(f *Fabric) { f.Close() },
	} {
		f, rings := sharing(t)
		end(f[0])
		for rings[1].cause == nil {
			f[1].Poll(rings[1], -1)
			sys.Yield()
		}
		if got := rings[1].text(); got != "attach drain detach down" {
			t.Errorf("%s: %s, %v", name, got, rings[1].cause)
		}
		f[1].Forget(1)
	}
}

// A peer that is refused while both ends leave the connection is lost: a new connection would not be of use (S5).
func TestS5_RefusedWhileLeaving(t *testing.T) {
	f, rings := sharing(t)
	f[0].Send(1, &wire.Header{Kind: wire.Leave}, nil)
	until(t, f, rings, func() bool { return strings.HasSuffix(rings[1].text(), "leave") })
	f[1].Left(1)
	f[1].Send(1, &wire.Header{Kind: wire.Leave}, nil)
	f[1].Lose(1, errors.New("it has broken the protocol"))
	for rings[1].cause == nil && !strings.HasSuffix(rings[1].text(), "parted") {
		f[1].Poll(rings[1], -1)
	}
	if got := rings[1].text(); got != "attach drain leave drain detach down" {
		t.Errorf("%s, %v", got, rings[1].cause)
	}
}
