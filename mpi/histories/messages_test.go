package histories_test

import (
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Random programs of point-to-point communication, checked against what the standard
// allows. A seed determines a program, which is the same on all fabrics.
//
// A program consists of lanes, each of which is one goroutine per rank. Lanes share
// communicators but not tags. The messages of a lane have a global order, and every rank does
// its halves of them in that order. A blocking call therefore waits only for earlier events, and
// the program ends, whatever is buffered. There is one exception: a receive from any source may
// match a later message, so that senders to such receives do not wait before the end.
//
// The message that a receive gets is either determined (exact, and any tag from one source,
// since messages do not overtake), or open (any source). In the open case each message must be
// received once, and messages of one sender in order.
// received once, and no two messages of a sender in the wrong order.

// pattern is the wildcards in the receives of a rank, for each communicator and lane.
type pattern int

const (
	exact pattern = iota
	anyTag
	anySource
	anyBoth
)

// message is one message of a program. Ranks are those of the world.
type message struct {
	id, lane, comm, src, dst, tag, size int
	pattern                             pattern
	send, recv                          int // forms
	room                                int // of the receive buffer in bytes
}

// open reports whether its receive may get another message.
func (m *message) open() bool { return m.pattern >= anySource }

// step is what a rank does at one position of a lane.
type step struct {
	do  doing
	msg *message
	arg int
}

type doing int

const (
	doSend doing = iota
	doRecv
	doSettle // complete pending requests, by the method arg
	doCancel // a receive that no message matches, on the communicator of the message
	doPause
	doCollective
)

// twoSided is a program: steps for each rank and lane.
type twoSided struct {
	seed     uint64
	ranks    int
	lanes    int
	messages []*message
	flood    bool // all messages go in one direction; they are many, with lengths that fill rings
	steps    [][][]step
}

const (
	sharedComms = 4 // world, duplicate, all in another order, every second rank
	maxLanes    = 4
	tagsOfLane  = 16
	strayTag    = tagsOfLane - 1 // no message is sent with it
)

// newTwoSided makes the program of a seed for n ranks.
func newTwoSided(seed uint64, n int) *twoSided {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	h := &twoSided{seed: seed, ranks: n, lanes: 1 + r.IntN(maxLanes)}
	h.steps = make([][][]step, n)
	for i := range h.steps {
		h.steps[i] = make([][]step, h.lanes)
	}
	sizes := []int{0, 1, 8, 24, 25, 100, 300, 2000}
	switch r.IntN(8) {
	case 0, 1, 2:
		sizes = append(sizes, 8<<10, 8<<10+1, 17_000)
	case 3, 4:
		sizes = append(sizes, 9000, 66_000)
	case 5:
		sizes = append(sizes, 66_000, 300_000)
	}
	count := 5 + r.IntN(30)
	if r.IntN(8) == 0 {
		h.flood, count = true, 100
		sizes = []int{8, 100, 3000, 8 << 10, 8<<10 + 1}
	}
	for lane := range h.lanes {
		for range count {
			h.addMessage(r, lane, sizes)
			for k := r.IntN(3); k > 0 && (!h.flood || r.IntN(10) == 0); k-- {
				h.addOther(r, lane)
			}
		}
		for rank := range n {
			h.add(rank, lane, step{do: doSettle, arg: r.IntN(settleWays)})
		}
	}
	return h
}

func (h *twoSided) add(rank, lane int, s step) {
	h.steps[rank][lane] = append(h.steps[rank][lane], s)
}

func (h *twoSided) addMessage(r *rand.Rand, lane int, sizes []int) {
	m := &message{id: len(h.messages) + 1, lane: lane, send: r.IntN(sendForms), recv: r.IntN(recvForms)}
	m.comm = r.IntN(sharedComms + 1)
	m.src, m.dst = r.IntN(h.ranks), r.IntN(h.ranks)
	if h.flood {
		m.comm = lane % 2
		m.src, m.dst = lane%h.ranks, (lane+1)%h.ranks
	}
	if m.comm == 3 && (m.src-m.dst)%2 != 0 {
		m.dst = m.src
	}
	// The wildcards are the same for all receives of the receiver on the communicator.
	kinds := []pattern{exact, exact, anySource}
	if m.comm == sharedComms { // the communicator of the lane
		kinds = []pattern{exact, anyTag, anySource, anyBoth}
	}
	choice := rand.New(rand.NewPCG(h.seed, uint64(m.comm*1000+m.dst*10+lane)))
	m.pattern = kinds[choice.IntN(len(kinds))]
	m.tag = lane*tagsOfLane + r.IntN(4)
	if m.comm == sharedComms {
		m.tag = r.IntN(1 << 20)
		if m.pattern == exact || m.pattern == anySource {
			m.tag = r.IntN(4)
		}
	}
	m.size = sizes[r.IntN(len(sizes))]
	m.room = m.size + r.IntN(2)*r.IntN(50)
	if m.open() {
		m.size = max(m.size, 8) // it contains its number
		m.room = sizes[len(sizes)-1]
	} else if r.IntN(10) == 0 && m.size > 0 && truncates(m.recv) {
		m.room = r.IntN(m.size)
	}
	if m.open() || m.src == m.dst {
		m.send = nonblocking(m.send)
	}
	h.messages = append(h.messages, m)
	h.add(m.src, lane, step{do: doSend, msg: m})
	h.add(m.dst, lane, step{do: doRecv, msg: m})
}

func (h *twoSided) addOther(r *rand.Rand, lane int) {
	rank := r.IntN(h.ranks)
	switch k := r.IntN(20); {
	case k < 8:
		h.add(rank, lane, step{do: doSettle, arg: r.IntN(settleWays)})
	case k < 10:
		h.add(rank, lane, step{do: doCancel, arg: r.IntN(sharedComms)})
	case k < 12:
		h.add(rank, lane, step{do: doPause, arg: r.IntN(100)})
	case k == 12 && lane == 0:
		what := r.IntN(2)
		for rank := range h.ranks {
			h.add(rank, lane, step{do: doCollective, arg: what})
		}
	}
}

// messagesBatch is the number of programs that one world runs.
const messagesBatch = 150

// TestRandomHistories runs programs on every fabric and with several numbers of ranks, fewer and
// more than there are cores. A failure says how to replay it.
func TestRandomHistories(t *testing.T) {
	count := 150
	switch {
	case testrun.Race:
		count = 15
	case testing.Short():
		count = 30
	}
	var all []series
	for _, places := range []string{"0", "00", "000", "00000", "000000000"} {
		n := count
		if len(places) > 3 {
			n = count / 3
		}
		all = append(all, onFabrics(places, 1, n)...)
	}
	runAll(t, all, messagesBatch, runMessages)
}

// Random programs of messages over several hosts: near peers use memory or loopback, far ones
// sealed sockets, and each process waits for both.
func TestRandomHistoriesOverHosts(t *testing.T) {
	count := 12
	if testrun.Race || testing.Short() {
		count = 6
	}
	var all []series
	for _, places := range []string{"01", "001", "0110", "00102"} {
		all = append(all, onFabrics(places, 1000, count)...)
	}
	runAll(t, all, messagesBatch, runMessages)
}

// In checking mode random programs of messages and collectives still have correct results, on
// one host and several.
func TestRandomHistoriesInCheckingMode(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	count := 10
	if testrun.Race || testing.Short() {
		count = 4
	}
	var all []series
	for _, places := range []string{"0", "00", "00000", "0010"} {
		all = append(all, onFabrics(places, 2000, count)...)
	}
	runAll(t, all, messagesBatch, runMessages)
}

// runMessages runs programs one after the other in one world.
func runMessages(t *testing.T, s series) {
	n := len(s.places)
	all := make([]*twoSided, s.count)
	for i := range all {
		all[i] = newTwoSided(s.first+uint64(i), n)
	}
	mpitest.On(t, s.over(), n, func(t testing.TB, c *mpi.Comm) {
		comms, err := openComms(c)
		ok(t, err)
		for _, h := range all {
			replay := s.replay(t, h.seed, 1)
			stop := testrun.WatchFunc(func() string { return "a program hangs; " + replay })
			err := h.run(comms, c.Rank())
			stop()
			if err != nil {
				t.Fatalf("rank %d: %v\n%s", c.Rank(), err, replay)
			}
			ok(t, c.Barrier()) // the receives of the lanes have all been matched
			if c.Rank() == 0 {
				if err := h.check(); err != nil {
					t.Fatalf("%v\n%s", err, replay)
				}
			}
			ok(t, c.Barrier())
		}
		for _, d := range comms[1:] {
			if d != nil {
				ok(t, d.Free())
			}
		}
		_, err = mpi.BufferDetach(c)
		ok(t, err)
	})
}

// openComms makes the communicators of programs: first those that lanes share, then one for each
// lane.
func openComms(c *mpi.Comm) ([]*mpi.Comm, error) {
	if err := mpi.BufferAttach(c, nil); err != nil {
		return nil, err
	}
	dup, err := c.Dup()
	if err != nil {
		return nil, err
	}
	turned, err := c.Split(0, -c.Rank())
	if err != nil {
		return nil, err
	}
	half, err := c.Split(c.Rank()%2, 0)
	if err != nil {
		return nil, err
	}
	comms := []*mpi.Comm{c, dup, turned, half}
	for range maxLanes {
		d, err := c.Dup()
		if err != nil {
			return nil, err
		}
		comms = append(comms, d)
	}
	return comms, nil
}

// rankIn is the rank in a communicator of openComms of a process of the world.
func rankIn(comm, rank, n int) int {
	switch comm {
	case 2:
		return n - 1 - rank
	case 3:
		return rank / 2
	}
	return rank
}
