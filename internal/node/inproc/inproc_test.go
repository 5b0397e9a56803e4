package inproc_test

import (
	"errors"
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/wire"
)

// recordingSink records what a fabric delivers.
type recordingSink struct {
	frames []uint64 // Arg by arrival
	downs  []int
	causes []error
}

func (s *recordingSink) Frame(from int, h *wire.Header, payload []byte) {
	s.frames = append(s.frames, h.Arg)
}
func (s *recordingSink) Place(int, *wire.Header) []byte { return nil }
func (s *recordingSink) Placed(int, *wire.Header)       {}
func (s *recordingSink) Down(peer int, cause error) {
	s.downs, s.causes = append(s.downs, peer), append(s.causes, cause)
}

func open(t testing.TB, n int) (*inproc.World, []*node.Node) {
	t.Helper()
	w, err := inproc.New(n)
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]*node.Node, n)
	for i := range nodes {
		nodes[i], err = w.Open(i)
		if err != nil {
			t.Fatal(err)
		}
	}
	return w, nodes
}

// rings returns a fabric over each node.
func rings(nodes []*node.Node) []*shm.Fabric {
	fabrics := make([]*shm.Fabric, len(nodes))
	for i, n := range nodes {
		fabrics[i] = shm.New(n)
	}
	return fabrics
}

func TestOpenRefusesWhatIsNotAProcessOfTheWorld(t *testing.T) {
	for _, n := range []int{0, -1, 1 << 20} {
		if _, err := inproc.New(n); err == nil {
			t.Errorf("New(%d) succeeded", n)
		}
	}
	w, _ := open(t, 2)
	for _, i := range []int{-1, 2, 0} {
		if _, err := w.Open(i); err == nil {
			t.Errorf("Open(%d) of an opened world of 2 succeeded", i)
		}
	}
}

func TestFramesSentBeforeTheReceiverOpensArrive(t *testing.T) {
	w, err := inproc.New(2)
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if !shm.New(a).Send(1, &wire.Header{Kind: wire.Eager, Arg: 7}, nil) {
		t.Fatal("Send refused in an empty ring")
	}
	b, err := w.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	var s recordingSink
	shm.New(b).Poll(&s, -1)
	if len(s.frames) != 1 || s.frames[0] != 7 {
		t.Fatalf("got frames %v, want [7]", s.frames)
	}
}

func TestKillDeliversWhatWasPublishedThenDownThenNothing(t *testing.T) {
	w, nodes := open(t, 3)
	f := rings(nodes)
	const frames = 100 // more than one burst
	for i := range frames {
		if !f[1].Send(0, &wire.Header{Kind: wire.Eager, Arg: uint64(i)}, nil) {
			t.Fatalf("frame %d refused", i)
		}
	}
	w.Kill(1)
	w.Kill(1)
	f[1].Send(2, &wire.Header{Kind: wire.Eager}, nil) // the killed process still runs: the frame may arrive before Down
	var s recordingSink
	f[0].Sleep()
	f[0].Poll(&s, -1)
	if len(s.frames) != frames || len(s.downs) != 1 || s.downs[0] != 1 || !errors.Is(s.causes[0], inproc.ErrKilled) {
		t.Fatalf("got %d frames, downs %v (%v), want %d and [1]", len(s.frames), s.downs, s.causes, frames)
	}
	var zombie recordingSink
	f[1].Poll(&zombie, -1)
	if len(zombie.downs) != 2 {
		t.Errorf("the killed process saw downs %v, want both others", zombie.downs)
	}
	f[1].Send(0, &wire.Header{Kind: wire.Eager}, nil)
	for range 3 {
		f[0].Poll(&s, -1)
	}
	if len(s.frames) != frames || len(s.downs) != 1 {
		t.Errorf("after Down: %d frames, downs %v", len(s.frames), s.downs)
	}
	for range 10000 { // more than fit into a ring
		if !f[0].Send(1, &wire.Header{Kind: wire.Eager}, nil) {
			t.Fatal("a Send to the dead was refused")
		}
	}
}

func TestKillReachesWhoOpensLater(t *testing.T) {
	w, err := inproc.New(2)
	if err != nil {
		t.Fatal(err)
	}
	w.Kill(0)
	for i := range 2 {
		n, err := w.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		var s recordingSink
		shm.New(n).Poll(&s, -1)
		if len(s.downs) != 1 || s.downs[0] != 1-i {
			t.Errorf("process %d saw downs %v, want [%d]", i, s.downs, 1-i)
		}
	}
}

func TestReadOfAPeersMemoryIsUnsupported(t *testing.T) {
	_, f := open(t, 2)
	if f[0].CanRead(1) {
		t.Error("CanRead is true")
	}
	if err := f[0].Read(1, [][]byte{make([]byte, 8)}, 1<<20); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Read: %v, want ErrUnsupported", err)
	}
}

func TestWakeBeforeSleepIsNotLost(t *testing.T) {
	_, f := open(t, 1)
	for range 100 {
		f[0].Wake()
		f[0].Sleep()
	}
}

// MEM-06: ranks that are goroutines use the same memory. An access outside of a live block is an error,
// and the kernel neither reads nor writes the memory of one for another.
func TestMEM06GoroutinesShareBlocks(t *testing.T) {
	_, f := open(t, 3)
	for owner := range f {
		off, mem, err := f[owner].Alloc(5000, 256)
		if err != nil {
			t.Fatal(err)
		}
		for peer := range f {
			seen, err := f[peer].View(owner).Memory(off+10, 4990)
			if err != nil || len(seen) != 4990 || &seen[0] != &mem[10] {
				t.Errorf("process %d sees %d bytes of %d: %v", peer, len(seen), owner, err)
			}
			if _, err := f[peer].View(owner).Memory(off, 5001); err == nil {
				t.Error("a byte behind a block is seen")
			}
			if peer != owner && (f[peer].CanRead(owner) || f[peer].CanWrite(owner)) {
				t.Error("a kernel reads or writes")
			}
		}
		if err := f[owner].Free(off); err != nil {
			t.Error(err)
		}
		if _, err := f[0].View(owner).Memory(off, 1); err == nil {
			t.Error("a block that was freed is seen")
		}
	}
	if err := f[0].Write(1, [][]byte{{1}}, 1<<20); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Write: %v", err)
	}
}
