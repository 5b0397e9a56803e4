package histories_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Random programs of partitioned communication. A seed determines a program: channels, each of
// which is a send and the receive that matches it. Every rank makes its requests in a random order,
// in which only those of one envelope keep the order of the channels; it starts them in a random
// order in each round, and goroutines fill and mark partitions in a random order. The model is a
// function of channel, round and element.

// channel is a send and the receive that matches it.
type channel struct {
	number, from, to, tag int
	elements              int
	parts, layout         [2]int // of the send and the receive
}

// value is element e of the message in a round.
func (x *channel) value(round, e int) int32 { return int32((round*31+x.number)*1_000_003 + e*17) }

// newChannels makes the program of a seed for n ranks.
func newChannels(seed uint64, n int) (all []*channel, rounds, workers int) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range 2 + r.IntN(5) {
		x := &channel{number: i, from: r.IntN(n), to: r.IntN(n), tag: r.IntN(2)}
		x.parts = [2]int{1 + r.IntN(12), 1 + r.IntN(12)}
		if r.IntN(6) == 0 {
			x.parts[r.IntN(2)] = 60 + r.IntN(70)
		}
		x.layout = [2]int{r.IntN(layoutKinds), r.IntN(layoutKinds)}
		x.elements = blockLength * x.parts[0] * x.parts[1] * (1 + r.IntN(3))
		if r.IntN(8) == 0 {
			x.elements *= 1 + 300_000/4/x.elements
		}
		all = append(all, x)
	}
	return all, 1 + r.IntN(4), 1 + r.IntN(4)
}

const (
	layoutKinds = 5
	blockLength = 4 // elements of a block of the layout with blocks
)

// end is the send or receive of a channel in its rank.
type end struct {
	*channel
	sends   bool
	request mpi.Request
	mem     []int32
	place   func(e int) int // index of element e in mem
	free    func() error
}

// open makes the request.
func (x *end) open(c *mpi.Comm) (err error) {
	var b mpi.Buffer
	x.free = func() error { return nil }
	derived := func(block, stride int) error {
		number, err := mpi.Predefined("MPI_INT32_T")
		if err != nil {
			return err
		}
		inner, err := mpi.TypeContiguous(block, number)
		if err != nil {
			return err
		}
		d, err := mpi.TypeResized(inner, 0, 4*stride)
		if err != nil {
			return err
		}
		x.mem = make([]int32, x.elements/block*stride)
		x.place = func(e int) int { return e/block*stride + e%block }
		if err := d.Commit(); err != nil {
			return err
		}
		b = mpi.BufOf(x.mem, x.elements/block, d)
		x.free = d.Free
		return inner.Free()
	}
	x.place = func(e int) int { return e }
	switch x.layout[x.side()] {
	case 0, 1:
		x.mem = make([]int32, x.elements)
	case 2:
		x.mem, err = mpi.AllocMem[int32](c, x.elements)
		if err == nil {
			x.free = func() error { return mpi.FreeMem(c, x.mem) }
		}
	case 3:
		err = derived(1, 3)
	case 4:
		err = derived(blockLength, 2*blockLength-1)
	}
	if err != nil {
		return err
	}
	if x.layout[x.side()] < 3 {
		b = mpi.Buf(x.mem)
	}
	if x.sends {
		x.request = c.PsendInit(b, x.parts[0], x.to, x.tag)
	} else {
		x.request = c.PrecvInit(b, x.parts[1], x.from, x.tag)
	}
	return x.request.Err()
}

// side is the index of the end in parts and layout.
func (x *end) side() int {
	if x.sends {
		return 0
	}
	return 1
}

// before reports whether x must be made before y, because they have one envelope.
func (x *end) before(y *end) bool {
	return x.sends == y.sends && x.from == y.from && x.to == y.to && x.tag == y.tag && x.number < y.number
}

// mark fills partitions of a list, and marks them, some at a time.
func (x *end) mark(round int, list []int) error {
	n := x.elements / x.parts[0]
	for len(list) > 0 {
		some := list[:min(len(list), 1+round%3)]
		list = list[len(some):]
		for _, i := range some {
			for e := i * n; e < (i+1)*n; e++ {
				x.mem[x.place(e)] = x.value(round, e)
			}
		}
		err := error(nil)
		if len(some) == 1 {
			err = x.request.Pready(some[0])
		} else {
			err = x.request.PreadyList(some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watch waits for some partitions, in a random order, and checks each.
func (x *end) watch(round int, r *rand.Rand) error {
	n := x.elements / x.parts[1]
	for _, i := range r.Perm(x.parts[1])[:1+r.IntN(x.parts[1])] {
		for {
			there, err := x.request.Parrived(i)
			if err != nil {
				return err
			}
			if there {
				break
			}
			runtime.Gosched()
		}
		if err := x.check(round, i*n, (i+1)*n); err != nil {
			return fmt.Errorf("partition %d has arrived: %w", i, err)
		}
	}
	return nil
}

// check compares received elements with the model.
func (x *end) check(round, lo, hi int) error {
	for e := lo; e < hi; e++ {
		if got, want := x.mem[x.place(e)], x.value(round, e); got != want {
			return fmt.Errorf("channel %d from %d to %d, round %d: element %d of %d is %d, want %d", x.number, x.from, x.to, round, e, x.elements, got, want)
		}
	}
	return nil
}

// run runs the program of a seed on this rank.
func runChannels(c *mpi.Comm, seed uint64) error {
	channels, rounds, workers := newChannels(seed, c.Size())
	r := rand.New(rand.NewPCG(seed, uint64(100+c.Rank())))
	var ends []*end
	for _, x := range channels {
		if x.from == c.Rank() {
			ends = append(ends, &end{channel: x, sends: true})
		}
		if x.to == c.Rank() {
			ends = append(ends, &end{channel: x})
		}
	}
	r.Shuffle(len(ends), func(i, k int) { ends[i], ends[k] = ends[k], ends[i] })
	for i := range ends {
		for k := i + 1; k < len(ends); k++ {
			if ends[k].before(ends[i]) {
				ends[i], ends[k] = ends[k], ends[i]
			}
		}
	}
	for _, x := range ends {
		if err := x.open(c); err != nil {
			return err
		}
	}
	for round := range rounds {
		if err := playRound(ends, round, workers, r); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	for _, x := range ends {
		if err := x.request.Free(); err != nil {
			return err
		}
		if err := x.free(); err != nil {
			return err
		}
	}
	return c.Barrier()
}

// playRound starts and completes all requests of a rank once.
func playRound(ends []*end, round, workers int, r *rand.Rand) error {
	var markers, watchers sync.WaitGroup
	failures := make(chan error, len(ends)*(workers+1))
	for _, i := range r.Perm(len(ends)) {
		x := ends[i]
		if err := x.request.Start(); err != nil {
			return err
		}
		if !x.sends {
			if seed := r.Uint64(); seed%2 == 0 {
				watchers.Go(func() { failures <- x.watch(round, rand.New(rand.NewPCG(seed, 1))) })
			}
			continue
		}
		order := r.Perm(x.parts[0])
		for part := range slices.Chunk(order, (len(order)+workers-1)/workers) {
			markers.Go(func() { failures <- x.mark(round, part) })
		}
		if r.IntN(3) == 0 {
			markers.Wait() // Pready does not wait
		}
	}
	if r.IntN(2) == 0 {
		watchers.Wait()
	}
	for _, i := range r.Perm(len(ends)) {
		x := ends[i]
		st, err := x.request.Wait()
		if err != nil {
			return err
		}
		if x.sends {
			continue
		}
		if st.Source != x.from || st.Tag != x.tag || st.Bytes() != int64(4*x.elements) {
			return fmt.Errorf("channel %d: status %+v", x.number, st)
		}
		if err := x.check(round, 0, x.elements); err != nil {
			return err
		}
	}
	markers.Wait()
	watchers.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// channelsBatch is how many programs the same ranks run one after the other.
const channelsBatch = 20

// X-PRT-01: random programs of partitioned messages between any ranks, with any partitions, layouts
// and memory on either side, marked by several goroutines in any order, and started again.
func TestPartitionedHistories(t *testing.T) {
	count := 15
	if testrun.Race || testing.Short() {
		count = 6
	}
	all := append(onFabrics("00", 0, count), onFabrics("000", 1000, count)...)
	all = append(all, onFabrics("0000", 2000, count/2)...)
	if slices.Contains(mpitest.Fabrics(), "shm") {
		all = append(all, series{placing{"shm", "0110"}, 3000, count})
	}
	runAll(t, all, channelsBatch, func(t *testing.T, s series) {
		err := mpitest.RunOver(s.over(), len(s.places), func(c *mpi.Comm) error {
			for i := range s.count {
				if err := runChannels(c, s.first+uint64(i)); err != nil {
					return fmt.Errorf("rank %d: %w\n%s", c.Rank(), err, s.replay(t, s.first+uint64(i), 1))
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
