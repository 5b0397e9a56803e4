package benchmark

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

const (
	guidelineBlock  = 10                    // rounds of a call before the other one's turn
	guidelineRounds = 4000                  // most rounds of a call
	guidelineTime   = 80 * time.Millisecond // after which no block begins
)

// guideline is a call and others with the same effect, which the call shall not be slower than:
// bench/guideline.h describes it, and has the same loops in C. In a round of value v rank r sends words v + r.
type guideline struct {
	names  [2]string
	calls  [2]func() error
	send   []float64
	expect func(v float64) bool
}

// guidelines measures all guidelines for one size.
func guidelines(world *mpi.Comm, p *Plan, size int, report *Report) error {
	n := world.Size()
	if size < 8 || size%8 != 0 || size%n != 0 {
		return fmt.Errorf("guideline takes sizes that are multiples of 8 and of the number of ranks, not %d", size)
	}
	grid, err := fivePoint(world)
	if err != nil {
		return err
	}
	all := []*guideline{allreduceGuideline(world, size), bcastGuideline(world, size), allgatherGuideline(world, size), neighborGuideline(grid, size)}
	for _, g := range all {
		times, err := g.rounds(world, p)
		if err != nil {
			return err
		}
		for i, t := range times {
			longest := make([]float64, len(t))
			if err := mpi.Reduce(world, t, longest, mpi.Max, 0); err != nil {
				return err
			}
			if err := report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: n, Size: size, Layout: g.names[i], US: median(longest)}); err != nil {
				return err
			}
		}
	}
	return grid.comm.Free()
}

// rounds measures both calls in turn, and returns the times of this rank. The first blocks warm up.
func (g *guideline) rounds(world *mpi.Comm, p *Plan) (times [2][]float64, err error) {
	begin, v := time.Now(), 1.0
	more := []bool{true}
	for warm := true; more[0]; warm = false {
		for i, call := range g.calls {
			t, err := g.block(world, call, v)
			if err != nil {
				return times, err
			}
			if !warm {
				times[i] = append(times[i], t[:]...)
			}
			v += guidelineBlock
		}
		n := len(times[0])
		more[0] = n == 0 || time.Since(begin)*max(p.shorten, 1) < guidelineTime && n+guidelineBlock <= guidelineRounds
		if err := mpi.Bcast(world, more, 0); err != nil {
			return times, err
		}
	}
	return times, nil
}

// block runs a block of rounds, whose values begin with v. Each begins with writing all that is sent, so that the
// data are in no cache of a receiver; what the ranks write and read is not timed.
func (g *guideline) block(world *mpi.Comm, call func() error, v float64) (times [guidelineBlock]float64, err error) {
	for i := range times {
		of := v + float64(i)
		for k := range g.send {
			g.send[k] = of + float64(world.Rank())
		}
		if err := world.Barrier(); err != nil {
			return times, err
		}
		start := time.Now()
		if err := call(); err != nil {
			return times, err
		}
		times[i] = micros(time.Since(start))
		if !g.expect(of) {
			return times, fmt.Errorf("guideline: rank %d did not receive by %v what was sent", world.Rank(), g.names)
		}
	}
	return times, nil
}

// asBytes returns the memory of words.
func asBytes(words []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// holds reports whether all words are v.
func holds(words []float64, v float64) bool {
	wrong := 0
	for _, w := range words {
		if w != v {
			wrong++
		}
	}
	return wrong == 0
}

func allreduceGuideline(world *mpi.Comm, size int) *guideline {
	send, recv, n := written[float64](size/8), written[float64](size/8), world.Size()
	return &guideline{
		names: [2]string{"allreduce", "reduce+bcast"},
		send:  send,
		calls: [2]func() error{
			func() error { return mpi.Allreduce(world, send, recv, mpi.Sum) },
			func() error {
				if err := mpi.Reduce(world, send, recv, mpi.Sum, 0); err != nil {
					return err
				}
				return mpi.Bcast(world, recv, 0)
			},
		},
		expect: func(v float64) bool { return holds(recv, float64(n)*v+float64(n*(n-1)/2)) },
	}
}

func bcastGuideline(world *mpi.Comm, size int) *guideline {
	words := written[float64](size / 8)
	data := words
	if world.Rank() != 0 {
		data = written[float64](size / 8)
	}
	bytes := asBytes(data)
	part := size / world.Size()
	own := bytes[world.Rank()*part:][:part]
	return &guideline{
		names: [2]string{"bcast", "scatter+allgather"},
		send:  words,
		calls: [2]func() error{
			func() error { return mpi.Bcast(world, bytes, 0) },
			func() error {
				if err := mpi.Scatter(world, bytes, own, 0); err != nil {
					return err
				}
				return mpi.Allgather(world, own, bytes)
			},
		},
		expect: func(v float64) bool { return holds(data, v) },
	}
}

func allgatherGuideline(world *mpi.Comm, size int) *guideline {
	send, recv := written[float64](size/8), written[float64](world.Size()*size/8)
	return &guideline{
		names: [2]string{"allgather", "gather+bcast"},
		send:  send,
		calls: [2]func() error{
			func() error { return mpi.Allgather(world, send, recv) },
			func() error {
				if err := mpi.Gather(world, send, recv, 0); err != nil {
					return err
				}
				return mpi.Bcast(world, recv, 0)
			},
		},
		expect: func(v float64) bool {
			right := true
			for r := range world.Size() {
				right = holds(recv[r*len(send):][:len(send)], v+float64(r)) && right
			}
			return right
		},
	}
}

func neighborGuideline(grid *stencil, size int) *guideline {
	n, words := len(grid.to), size/8
	send, recv := written[float64](n*words), written[float64](n*words)
	grid.size, grid.send, grid.recv = size, asBytes(send), asBytes(recv)
	grid.requests = make([]mpi.Request, 2*n)
	return &guideline{
		names: [2]string{"neighbor", "messages"},
		send:  send,
		calls: [2]func() error{
			func() error { return grid.collective(1) },
			func() error { return grid.messages(1) },
		},
		expect: func(v float64) bool {
			right := true
			for k, from := range grid.from {
				right = holds(recv[k*words:][:words], v+float64(from)) && right
			}
			return right
		},
	}
}
