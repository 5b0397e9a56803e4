package shm_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// tally records what a fabric delivers.
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

// Poll once exceeded its list of rings when it dropped a peer.
func TestBrokenRingEndsItsPeerAndNoOther(t *testing.T) {
	for broken := 1; broken <= 3; broken++ {
		h := nodetest.New(t, 4)
		f := start(t, h)
		for i := 1; i <= 3; i++ {
			send(t, f[i], 0, uint64(i))
		}
		seg, err := shmfmt.OpenSegment(h.Segment(t, 0), 0, 4, nil)
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
	h := nodetest.New(t, 3)
	h.Segment(t, 2)[0] = 1 // the segment of rank 2 has another format
	f := []*shm.Fabric{shm.New(h.Open(t, 0)), shm.New(h.Open(t, 1))}
	send(t, f[0], 2, 1)
	send(t, f[0], 1, 1)
	f[0].Sleep()
	var s tally
	for range 3 {
		f[0].Poll(&s, -1)
	}
	if len(s.downs) != 1 || s.downs[0] != 2 || !strings.Contains(s.causes[0].Error(), "not ready") {
		t.Errorf("downs %v, causes %v, want [2] for a segment of another format", s.downs, s.causes)
	}
	send(t, f[0], 2, 1)
}

// Frames to a process that has not opened its memory yet wait for it there.
func TestFramesWaitForAProcessThatOpensLater(t *testing.T) {
	h := nodetest.New(t, 2)
	node := h.Open(t, 0)
	first := shm.New(node)
	send(t, first, 1, 7)
	if node.CanRead(1) {
		t.Error("memory of a process that has not opened it can be read")
	}
	second := shm.New(h.Open(t, 1))
	var s tally
	second.Poll(&s, -1)
	if len(s.args) != 1 || s.args[0] != 7 || len(s.downs) != 0 {
		t.Errorf("frames %v, downs %v", s.args, s.downs)
	}
	if !node.CanRead(1) {
		t.Error("memory of a process that opened it later cannot be read")
	}
}

func TestLoseDeliversWhatThePeerPublishedFirst(t *testing.T) {
	h := nodetest.New(t, 3)
	f := start(t, h)
	const frames = 1000 // nearly a full ring, many bursts
	for i := range frames {
		send(t, f[1], 0, uint64(i))
	}
	f[0].Arm()
	h.Nodes[0].Lose(1, errKilled)
	h.Nodes[0].Lose(1, errors.New("told twice"))
	h.Nodes[0].Lose(99, errors.New("no such peer"))
	h.Nodes[0].Lose(-1, errors.New("no such peer"))
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
	if h.Nodes[0].CanRead(1) {
		t.Error("the memory of a dead process can be read")
	}
}

func TestProcessesElsewhereHaveNoLocalIndex(t *testing.T) {
	n, err := node.Open(&elsewhere{nodetest.Process{Host: nodetest.New(t, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Release(false) })
	f := shm.New(n)
	for rank, want := range []int{0, -1, 1, -1} {
		if got := n.LocalIndex(rank); got != want {
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

// elsewhere is rank 0 of a job of four, of which 0 and 2 are on this node.
type elsewhere struct{ nodetest.Process }

func (e *elsewhere) Job() *boot.Job {
	return &boot.Job{ID: "test", Rank: 0, Size: 4, Local: []int{0, 2}, Fabric: "shm", Cores: 2}
}

func (e *elsewhere) Segment(rank int) (*os.File, error) {
	if rank > 0 {
		rank /= 2
	}
	return e.Process.Segment(rank)
}
