package shm_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// tally keeps what a fabric delivers.
type tally struct {
	from   []int
	args   []uint64
	downs  []int
	causes []error
}

func (s *tally) Frame(from int, h *wire.Header, payload []byte) {
	s.from, s.args = append(s.from, from), append(s.args, h.Arg)
}
func (s *tally) Place(int, *wire.Header) []byte { return nil }
func (s *tally) Placed(int, *wire.Header)       {}
func (s *tally) Down(peer int, cause error) {
	s.downs, s.causes = append(s.downs, peer), append(s.causes, cause)
}

func send(t *testing.T, f *shm.Fabric, to int, arg uint64) {
	t.Helper()
	if !f.Send(to, &wire.Header{Kind: wire.Eager, Arg: arg}, nil) {
		t.Fatal("Send refused")
	}
}

// Poll once walked off the end of its list of rings when a peer was dropped.
func TestBrokenRingEndsItsPeerAndNoOther(t *testing.T) {
	for broken := 1; broken <= 3; broken++ {
		h := newHost(t, 4)
		f := h.start(t)
		for i := 1; i <= 3; i++ {
			send(t, f[i], 0, uint64(i))
		}
		seg, err := shmfmt.OpenSegment(h.segment(t, 0), 0, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		huge := wire.Header{Kind: wire.Eager, Size: shmfmt.MaxFrame + 1}
		huge.Encode(seg.Ring(broken)[4096:])
		var s tally
		for range 3 {
			f[0].Poll(&s, -1)
		}
		if len(s.args) != 2 || len(s.downs) != 1 || s.downs[0] != broken {
			t.Errorf("broken %d: frames from %v, downs %v", broken, s.from, s.downs)
		}
		for i := 1; i <= 3; i++ {
			send(t, f[i], 0, uint64(10*i))
		}
		for range 3 {
			f[0].Poll(&s, -1)
		}
		if len(s.args) != 4 || len(s.downs) != 1 {
			t.Errorf("broken %d: then frames from %v, downs %v", broken, s.from, s.downs)
		}
	}
}

// Frames to a peer whose memory cannot be mapped were once dropped silently.
func TestPeerThatCannotBeMappedIsDown(t *testing.T) {
	h := newHost(t, 3)
	var f []*shm.Fabric
	for rank := range 2 { // rank 2 never formats its segment
		g, err := shm.Open(&process{host: h, rank: rank})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Unmap() })
		f = append(f, g)
	}
	send(t, f[0], 2, 1)
	send(t, f[0], 1, 1)
	f[0].Sleep()
	var s tally
	for range 3 {
		f[0].Poll(&s, -1)
	}
	if len(s.downs) != 1 || s.downs[0] != 2 || !strings.Contains(s.causes[0].Error(), "not ready") {
		t.Errorf("downs %v, causes %v, want [2] for a segment that is not ready", s.downs, s.causes)
	}
	send(t, f[0], 2, 1)
}

func TestLoseDeliversWhatThePeerPublishedFirst(t *testing.T) {
	h := newHost(t, 3)
	f := h.start(t)
	const frames = 1000 // a ring nearly full, many bursts
	for i := range frames {
		send(t, f[1], 0, uint64(i))
	}
	f[0].Arm()
	f[0].Lose(1, errKilled)
	f[0].Lose(1, errors.New("told twice"))
	f[0].Lose(99, errors.New("no such peer"))
	f[0].Lose(-1, errors.New("no such peer"))
	f[0].Sleep()
	var s tally
	f[0].Poll(&s, -1)
	f[0].Poll(&s, -1)
	if len(s.args) != frames || len(s.downs) != 1 || !errors.Is(s.causes[0], errKilled) {
		t.Fatalf("%d frames, downs %v (%v), want %d and [1]", len(s.args), s.downs, s.causes, frames)
	}
	for i, arg := range s.args {
		if arg != uint64(i) {
			t.Fatalf("frame %d is number %d", i, arg)
		}
	}
	if f[0].CanRead(1) {
		t.Error("the memory of a dead process can be read")
	}
}

func TestReadReachesThePeersMemory(t *testing.T) {
	h := newHost(t, 2)
	f := h.start(t)
	if err := f[0].Read(1, [][]byte{make([]byte, 1)}, 1<<20); err == nil {
		t.Error("Read before CanRead succeeded")
	}
	if !f[0].CanRead(1) {
		t.Fatal("CanRead is false for a process of our own")
	}
	there := bytes.Repeat([]byte("remote memory "), 10000)
	here := make([]byte, len(there))
	addr := uint64(uintptr(unsafe.Pointer(&there[0]))) // large: on the heap, which does not move
	for _, blocks := range []int{1, 2, 64, 65, 1000} { // the kernel is given so many at a time, and not more than 64
		clear(here)
		var dst [][]byte
		for i := range blocks {
			dst = append(dst, here[len(here)*i/blocks:len(here)*(i+1)/blocks], nil)
		}
		if err := f[0].Read(1, dst, addr); err != nil || !bytes.Equal(here, there) {
			t.Errorf("Read of %d blocks: %v, equal %t", blocks, err, bytes.Equal(here, there))
		}
	}
	if err := f[0].Read(1, [][]byte{here[:0]}, addr); err != nil {
		t.Errorf("Read of nothing: %v", err)
	}
	for _, bad := range []uint64{0, 8, 1 << 63, ^uint64(0)} {
		if err := f[0].Read(1, [][]byte{here}, bad); err == nil {
			t.Errorf("Read at %#x succeeded", bad)
		}
	}
}

// The number of a process may mean another one here (another pid namespace).
func TestCanReadDemandsTheProbe(t *testing.T) {
	for name, spoil := range map[string]func(d *shmfmt.Door){
		"probe":   func(d *shmfmt.Door) { d.Probe[0]++ },
		"address": func(d *shmfmt.Door) { d.ProbeAddr = 0 },
		"no pid":  func(d *shmfmt.Door) { d.Pid.Store(0) },
		"pid":     func(d *shmfmt.Door) { d.Pid.Store(1 << 30) },
	} {
		f := newHost(t, 2).start(t)
		spoil(f[0].Control().Door(1))
		if f[0].CanRead(1) {
			t.Errorf("%s: CanRead is true", name)
		}
		if err := f[0].Read(1, [][]byte{make([]byte, 8)}, f[0].Control().Door(1).ProbeAddr); err == nil {
			t.Errorf("%s: Read succeeded", name)
		}
	}
}

func TestPidIsPublished(t *testing.T) {
	f := newHost(t, 2).start(t)
	for i := range 2 {
		if got := f[0].Control().Door(i).Pid.Load(); got != int32(os.Getpid()) {
			t.Errorf("door %d has pid %d, want %d", i, got, os.Getpid())
		}
	}
}

func TestProcessesElsewhereHaveNoLocalIndex(t *testing.T) {
	h := newHost(t, 2)
	p := &elsewhere{process{host: h, rank: 0}}
	f, err := shm.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Unmap() })
	for rank, want := range []int{0, -1, 1, -1} {
		if got := f.LocalIndex(rank); got != want {
			t.Errorf("LocalIndex(%d) = %d, want %d", rank, got, want)
		}
	}
	send(t, f, 3, 1)
	var s tally
	f.Poll(&s, -1)
	if len(s.downs) != 1 || s.downs[0] != 3 {
		t.Errorf("downs %v after a Send to another node, want [3]", s.downs)
	}
}
