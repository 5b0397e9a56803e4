package shm_test

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/fabrictest"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

var errKilled = errors.New("killed by the test")

// start opens the fabrics of all ranks of a host.
func start(t testing.TB, h *nodetest.Host) []*shm.Fabric {
	t.Helper()
	var fabrics []*shm.Fabric
	for _, n := range h.Start(t) {
		fabrics = append(fabrics, shm.New(n))
	}
	return fabrics
}

// killable adds Kill and Inject of the suite to a fabric.
type killable struct {
	*shm.Fabric
	host     *nodetest.Host
	me       int
	segments [][]byte // of all ranks, mapped by the test
}

// Kill does what a launcher does when the process dies.
func (m *killable) Kill() {
	for i, n := range m.host.Nodes {
		if i != m.me {
			n.Lose(m.me, errKilled)
		}
	}
}

// Inject writes invalid data to the shared memory that this process writes in its communication with peer
// `to`: its ring to the peer, the bits of active senders, and the head of the ring from the peer. A process
// can also write the rings of others, which nobody can detect: processes of one job share their memory.
func (m *killable) Inject(to int, r *rand.Rand) {
	seg, err := shmfmt.OpenSegment(m.segments[to], to, m.host.N, nil)
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
	case 3: // padding in every line
		for at := 0; at < len(ring); at += shmfmt.Line {
			(&wire.Header{Kind: 0xff}).Encode(ring[at:])
		}
	case 4: // bits of processes that have not sent, or do not exist
		bitmap.Or(r.Uint64())
	case 5: // noise in the head of the ring that the peer fills
		own, err := shmfmt.OpenSegment(m.segments[m.me], m.me, m.host.N, nil)
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

func TestConformance(t *testing.T) { conforms(t, nodetest.New) }

// Processes of an oversubscribed node are woken by bells.
func TestConformanceOversubscribed(t *testing.T) { conforms(t, nodetest.NewOversubscribed) }

func conforms(t *testing.T, hosts func(testing.TB, int) *nodetest.Host) {
	part := 1
	if testrun.Race {
		part = 5 // a run without the race detector runs the whole suite
	}
	fabrictest.RunPart(t, part, func(t testing.TB, n int) []fabric.Fabric {
		h := hosts(t, n)
		var segments [][]byte
		for i := range n {
			segments = append(segments, h.Segment(t, i))
		}
		fabrics := make([]fabric.Fabric, n)
		for i, f := range start(t, h) {
			fabrics[i] = &killable{f, h, i, segments}
		}
		return fabrics
	})
}
