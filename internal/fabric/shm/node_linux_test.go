package shm_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/fabrictest"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// heapSize is the size of the heaps in bytes: more than memory, if it is all used.
const heapSize = 64 << 30

var errKilled = errors.New("killed by the test")

// host plays the launcher of one node: it holds the shared memory.
type host struct {
	n       int
	cores   int        // 2 if it is 0; -1: so few that the node is oversubscribed
	bells   []*os.File // by rank, if oversubscribed
	own     bool       // who asks for the bell of another rank gets no descriptor
	files   []*os.File // by rank + 1; the control segment first
	fabrics []*shm.Fabric

	mu    sync.Mutex // guards what follows: all processes ask the host
	asked int        // for bells of others
	rung  []int      // ranks that the host was asked to wake
}

func newHost(t testing.TB, n int) *host {
	t.Helper()
	h := &host{n: n}
	for rank := -1; rank < n; rank++ {
		size, heap := shmfmt.HeapStart(n), int64(heapSize)
		if rank < 0 {
			size, heap = shmfmt.ControlSize(n), 0
		}
		f, err := sys.Sparse(fmt.Sprint("halo-test-", rank), size, heap, shmfmt.HeapUnit)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		h.files = append(h.files, f)
	}
	return h
}

// newCrowd is newHost for an oversubscribed node.
func newCrowd(t testing.TB, n int) *host {
	t.Helper()
	h := newHost(t, n)
	h.cores = -1
	for range n {
		f, err := sys.NewBellFile()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		h.bells = append(h.bells, f)
	}
	return h
}

// start opens the fabrics of all ranks: each maps everything for itself.
func (h *host) start(t testing.TB) []*shm.Fabric {
	t.Helper()
	for rank := range h.n {
		f, err := shm.Open(&process{host: h, rank: rank})
		if err != nil {
			t.Fatal(err)
		}
		h.fabrics = append(h.fabrics, f)
	}
	t.Cleanup(func() {
		if t.Failed() {
			return // somebody may still use the memory
		}
		for _, f := range h.fabrics {
			if err := f.Unmap(); err != nil {
				t.Error(err)
			}
		}
	})
	return h.fabrics
}

// segment maps the segment of a rank for the test itself.
func (h *host) segment(t testing.TB, rank int) []byte {
	t.Helper()
	mem, err := sys.Map(h.files[rank+1], shmfmt.SegmentSize(h.n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Unmap(mem) })
	return mem
}

// process is one rank's connection to the host.
type process struct {
	host *host
	rank int
}

func (p *process) Job() *boot.Job {
	local := make([]int, p.host.n)
	for i := range local {
		local[i] = i
	}
	return &boot.Job{ID: "test", Rank: p.rank, Size: p.host.n, Local: local, Fabric: "shm", Cores: cmp.Or(p.host.cores, 2)}
}

func (p *process) Segment(rank int) (*os.File, error) {
	var f *os.File
	bell, isBell := boot.BellRank(rank)
	if isBell && bell != p.rank {
		p.host.mu.Lock()
		p.host.asked++
		p.host.mu.Unlock()
	}
	switch {
	case isBell && bell != p.rank && p.host.own:
		return nil, syscall.EMFILE
	case isBell && bell < len(p.host.bells):
		f = p.host.bells[bell]
	case rank >= -1 && rank < p.host.n:
		f = p.host.files[rank+1]
	default:
		return nil, fmt.Errorf("segment of rank %d of %d", rank, p.host.n)
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "segment"), nil
}

func (p *process) Ring(rank int) error {
	p.host.mu.Lock()
	p.host.rung = append(p.host.rung, rank)
	p.host.mu.Unlock()
	if rank >= len(p.host.bells) {
		return fmt.Errorf("no bell of rank %d", rank)
	}
	return sys.RingBell(p.host.bells[rank])
}

func (p *process) Exchange([]byte) ([][]byte, error) { return nil, errors.ErrUnsupported }
func (p *process) Finalize() error                   { return nil }
func (p *process) Abort(code int, reason string)     { panic(fmt.Sprint(code, reason)) }
func (p *process) Lost() <-chan struct{}             { return nil }

// killable adds Kill and Inject of the suite to a fabric.
type killable struct {
	*shm.Fabric
	host     *host
	me       int
	segments [][]byte // of all ranks, mapped by the test
}

// Kill does what a launcher does when the process dies.
func (m *killable) Kill() {
	for i, f := range m.host.fabrics {
		if i != m.me {
			f.Lose(m.me, errKilled)
		}
	}
}

// Inject writes what no correct process writes, into memory that this process may write: its
// ring to peer `to`, its bits, its answers. A process that can write this memory can also
// write the rings of others, and nobody can detect that: processes of one job share their
// memory.
func (m *killable) Inject(to int, r *rand.Rand) {
	seg, err := shmfmt.OpenSegment(m.segments[to], to, m.host.n, nil)
	if err != nil {
		panic(err)
	}
	ring := seg.Ring(m.me)
	bitmap := (*atomic.Uint64)(unsafe.Pointer(&m.segments[to][shmfmt.Line]))
	line := func() []byte { return ring[r.IntN(len(ring)/shmfmt.Line)*shmfmt.Line:] }
	switch r.IntN(6) {
	case 0: // a frame of any header at any line
		h := wire.Header{Kind: wire.Kind(r.Uint32()), Size: r.Uint32() >> r.IntN(32), Flags: 3, Chan: 4}
		h.Encode(line())
	case 1: // noise in one line
		noise(line()[:shmfmt.Line], r)
	case 2: // noise in all of the ring
		noise(ring, r)
	case 3: // skips to the start, everywhere
		for at := 0; at < len(ring); at += shmfmt.Line {
			(&wire.Header{Kind: 0xff}).Encode(ring[at:])
		}
	case 4: // bits of processes that have not sent, or do not exist
		bitmap.Or(r.Uint64())
	case 5: // nonsense about what was consumed, in the ring that the peer fills
		own, err := shmfmt.OpenSegment(m.segments[m.me], m.me, m.host.n, nil)
		if err != nil {
			panic(err)
		}
		noise(own.Ring(to)[:shmfmt.Line], r)
	}
	seg.Activate(m.me)
}

func noise(b []byte, r *rand.Rand) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func TestConformance(t *testing.T) { conforms(t, newHost) }

// Processes of an oversubscribed node sleep and are woken by bells.
func TestConformanceInACrowd(t *testing.T) { conforms(t, newCrowd) }

func conforms(t *testing.T, hosts func(testing.TB, int) *host) {
	fabrictest.Run(t, func(t testing.TB, n int) []fabric.Fabric {
		h := hosts(t, n)
		h.start(t)
		var segments [][]byte
		for i := range n {
			segments = append(segments, h.segment(t, i))
		}
		fabrics := make([]fabric.Fabric, n)
		for i, f := range h.fabrics {
			fabrics[i] = &killable{f, h, i, segments}
		}
		return fabrics
	})
}

// elsewhere is rank 0 of a job of four, of which 0 and 2 are on this node.
type elsewhere struct{ process }

func (e *elsewhere) Job() *boot.Job {
	return &boot.Job{ID: "test", Rank: 0, Size: 4, Local: []int{0, 2}, Fabric: "shm", Cores: 2}
}

func (e *elsewhere) Segment(rank int) (*os.File, error) {
	if rank > 0 {
		rank /= 2
	}
	return e.process.Segment(rank)
}
