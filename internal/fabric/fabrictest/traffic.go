package fabrictest

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// scale is how many of n repetitions are made.
func (open opener) scale(n int) int {
	if testing.Short() {
		n /= 10
	}
	return max(1, n/open.part)
}

// repeat runs do n times as subtests, whose numbers are their seeds.
func (open opener) repeat(t *testing.T, n int, do func(t *testing.T, i int)) {
	for i := range open.scale(n) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { do(t, i) })
	}
}

func testLimits(t *testing.T, open opener) {
	for _, n := range []int{1, 2} {
		j := newJob(t, open, n, 1, smallSize)
		for i, r := range j.ranks {
			if r.f.Name() == "" {
				t.Errorf("rank %d: no name", i)
			}
			for what, size := range map[string]int{"EagerMax": r.f.EagerMax(), "ChunkMax": r.f.ChunkMax()} {
				if size < 64 || size > wire.MaxPayload {
					t.Errorf("rank %d: %s is %d, want 64 to %d", i, what, size, wire.MaxPayload)
				}
			}
			if r.f.EagerMax() != j.ranks[0].f.EagerMax() || r.f.ChunkMax() != j.ranks[0].f.ChunkMax() {
				t.Errorf("ranks 0 and %d differ in their limits", i)
			}
		}
		j.run() // nothing is planned: nothing arrives
	}
}

func testOrderAndIntegrity(t *testing.T, open opener) {
	for name, sizes := range map[string]func(uint64, int) int{"any": anySize, "small": smallSize, "large": largeSize} {
		for _, both := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,both=%t", name, both), func(t *testing.T) {
				j := newJob(t, open, 2, 2, sizes)
				j.plan(0, 1, open.scale(5000))
				if both {
					j.plan(1, 0, open.scale(5000))
				}
				j.run()
			})
		}
	}
}

func testAllToAll(t *testing.T, open opener) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			j := newJob(t, open, n, uint64(n), anySize)
			for round := range 2 { // the second over ways that exist
				for from := range n {
					for to := range n {
						j.plan(from, to, 1+open.scale(4000)/(n*n)+(from*to+round)%7)
					}
				}
				j.run()
			}
		})
	}
}

// testSendInsideFrame answers every frame from within Frame.
func testSendInsideFrame(t *testing.T, open opener) {
	const n = 3
	j := newJob(t, open, n, 4, smallSize)
	frames := open.scale(5000)
	var answered [n]int // by rank, under its lock
	for from := 1; from < n; from++ {
		j.plan(from, 0, frames)
		j.plan(0, from, frames)
	}
	asked := j.ranks[0]
	plan := asked.traffic
	for to := range plan {
		plan[to].plan = 0 // until asked
	}
	asked.onTaken = func(from int) {
		plan[from].plan++
		if asked.send(from) { // else push sends it again
			answered[from]++
		}
	}
	j.run()
	for from := 1; from < n; from++ {
		if answered[from] == 0 {
			t.Errorf("no Send to %d inside Frame was ever taken", from)
		}
	}
}

// counter is a sink that counts.
type counter struct{ frames int }

func (c *counter) Frame(int, *wire.Header, []byte) { c.frames++ }
func (c *counter) Place(int, *wire.Header) []byte  { return nil }
func (c *counter) Placed(int, *wire.Header)        {}
func (c *counter) Down(peer int, cause error)      { panic(fmt.Sprintf("Down(%d): %v", peer, cause)) }

func testNoAllocationPerFrame(t *testing.T, open opener) {
	for _, size := range []int{0, 8, 1000, 8000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			j := newJob(t, open, 2, 5, smallSize)
			a, b := j.ranks[0].f, j.ranks[1].f
			size := min(size, a.EagerMax())
			payload := make([]byte, size)
			h := wire.Header{Kind: wire.Eager, Size: uint32(size)}
			var there, back counter
			j.watch(func() {
				got := testing.AllocsPerRun(open.scale(1000), func() {
					for !a.Send(1, &h, payload) && !j.failed() {
						a.Poll(&back, 1)
						b.Poll(&there, 0)
						runtime.Gosched()
					}
					want := there.frames + 1
					for there.frames < want && !j.failed() {
						b.Poll(&there, 0)
						runtime.Gosched()
					}
					j.progress.Add(1)
				})
				if got != 0 {
					j.failf("%v allocations for a frame of %d bytes", got, size)
				}
			})
		})
	}
}
