package mpi_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// relaxation is a grid that is relaxed by ranks on a torus of 2 by 2, each with a square of
// width by width points, and by a serial program. Each rank has four neighbours, of which two
// pairs are the same rank.
type relaxation struct {
	width int
	sides int // ranks on a side
}

// start is the initial grid.
func (r relaxation) start() []float64 {
	n := r.width * r.sides
	g := rand.New(rand.NewPCG(1, 2))
	grid := make([]float64, n*n)
	for i := range grid {
		grid[i] = g.Float64()
	}
	return grid
}

// serial relaxes the whole grid.
func (r relaxation) serial(steps int) []float64 {
	n := r.width * r.sides
	now, next := r.start(), make([]float64, n*n)
	for range steps {
		for y := range n {
			for x := range n {
				next[y*n+x] = relaxed(now[y*n+x], now[(y+n-1)%n*n+x], now[(y+1)%n*n+x], now[y*n+(x+n-1)%n], now[y*n+(x+1)%n])
			}
		}
		now, next = next, now
	}
	return now
}

// relaxed is the next value of a point, from its neighbours.
func relaxed(at, up, down, left, right float64) float64 {
	return (at + (up + down) + (left + right)) / 5
}

// The neighbours of a rank, and the sides of its square.
const (
	up = iota
	down
	left
	right
	neighbours
)

// square is the part of a rank: its points, and in its window four halos of width points.
type square struct {
	relaxation
	win     mpi.Win[float64]
	around  [neighbours]int
	now     []float64
	next    []float64
	borders [neighbours][]float64 // the data to put
}

func newSquare(t testing.TB, c *mpi.Comm, r relaxation) *square {
	t.Helper()
	w, n := r.width, r.width*r.sides
	s := &square{relaxation: r, now: make([]float64, w*w), next: make([]float64, w*w)}
	row, col := c.Rank()/r.sides, c.Rank()%r.sides
	wrap := func(row, col int) int { return (row+r.sides)%r.sides*r.sides + (col+r.sides)%r.sides }
	s.around = [neighbours]int{up: wrap(row-1, col), down: wrap(row+1, col), left: wrap(row, col-1), right: wrap(row, col+1)}
	all := r.start()
	for y := range w {
		copy(s.now[y*w:][:w], all[(row*w+y)*n+col*w:])
	}
	for i := range s.borders {
		s.borders[i] = make([]float64, w)
	}
	var err error
	s.win, err = mpi.WinAllocate[float64](c, neighbours*w)
	ok(t, err)
	return s
}

// fill sets the borders to the data for the neighbours.
func (s *square) fill() {
	w := s.width
	copy(s.borders[up], s.now)
	copy(s.borders[down], s.now[(w-1)*w:])
	for y := range w {
		s.borders[left][y], s.borders[right][y] = s.now[y*w], s.now[y*w+w-1]
	}
}

// put puts the border on one side into the opposite halo of the neighbour.
func (s *square) put(t testing.TB, side int) {
	t.Helper()
	ok(t, s.win.Put(s.borders[side], s.around[side], (side^1)*s.width))
}

// step relaxes the square, using its halos.
func (s *square) step() {
	w, halo := s.width, s.win.Local()
	at := func(side, i int) float64 { return halo[side*w+i] }
	for y := range w {
		for x := range w {
			n := [neighbours]float64{}
			for side, p := range [neighbours]struct {
				inside bool
				point  int
				i      int
			}{{y > 0, (y-1)*w + x, x}, {y < w-1, (y+1)*w + x, x}, {x > 0, y*w + x - 1, y}, {x < w-1, y*w + x + 1, y}} {
				if p.inside {
					n[side] = s.now[p.point]
				} else {
					n[side] = at(side, p.i)
				}
			}
			s.next[y*w+x] = relaxed(s.now[y*w+x], n[up], n[down], n[left], n[right])
		}
	}
	s.now, s.next = s.next, s.now
}

// check compares the square with the serial result.
func (s *square) check(t testing.TB, c *mpi.Comm, want []float64) {
	t.Helper()
	w, n := s.width, s.width*s.sides
	row, col := c.Rank()/s.sides, c.Rank()%s.sides
	for y := range w {
		if got, want := s.now[y*w:][:w], want[(row*w+y)*n+col*w:][:w]; !slices.Equal(got, want) {
			t.Fatalf("row %d of rank %d is %v, want %v", y, c.Rank(), got, want)
		}
	}
}

// loiter delays a rank at random.
func loiter(g *rand.Rand) {
	if g.IntN(4) == 0 {
		for range g.IntN(20) {
			runtime.Gosched()
		}
	}
}

// handles exchanges objects with all neighbours by messages with a tag, as the proposal does.
func (s *square) handles(t testing.TB, c *mpi.Comm, mine mpi.Sync, tag int) (theirs [neighbours]mpi.Sync) {
	t.Helper()
	var rs []mpi.Request
	for side, r := range s.around {
		rs = append(rs, mpi.Irecv(c, theirs[side:side+1], r, tag), mpi.Isend(c, []mpi.Sync{mine}, r, tag))
	}
	ok(t, mpi.Waitall(rs, nil))
	return theirs
}

// freeAll frees requests.
func freeAll(t testing.TB, rs []mpi.Request) {
	t.Helper()
	for i := range rs {
		ok(t, rs[i].Free())
	}
}

// onHalos runs a program of the proposal on four ranks, over every fabric, with random delays,
// and compares the result with the serial one.
func onHalos(t *testing.T, program func(t testing.TB, c *mpi.Comm, s *square, updated mpi.Request, puts []mpi.Request, my []mpi.Sync, steps int, loiter func())) {
	r := relaxation{width: 5, sides: 2}
	all := rounds(1000)
	few := all / 5 // for fabrics on which a step takes much longer
	wants := map[int][]float64{all: r.serial(all), few: r.serial(few)}
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		steps := all
		if strings.Contains(t.Name(), "/tcp") || strings.Contains(t.Name(), "@") {
			steps = few
		}
		want := wants[steps]
		g := rand.New(rand.NewPCG(3, uint64(c.Rank())))
		s := newSquare(t, c, r)
		my, err := s.win.AllocSyncObjects(2, nil)
		ok(t, err)
		to := s.handles(t, c, my[0], 1)
		updated := s.win.SyncObjectInit(my[0], neighbours)
		var puts []mpi.Request
		for side, r := range s.around {
			puts = append(puts, s.win.SyncOpsInit(r, mpi.ModeWinPut, to[side]))
		}
		ok(t, s.win.LockAll(mpi.ModeNoCheck)) // the proposal has no epochs
		program(t, c, s, updated, puts, my, steps, func() { loiter(g) })
		s.check(t, c, want)
		ok(t, s.win.UnlockAll())
		ok(t, updated.Free())
		freeAll(t, puts)
		ok(t, s.win.FreeSyncObjects(my))
		ok(t, s.win.Free())
	})
}

// Example A of the proposal, with its braces corrected (E0-11): objects say that halos are
// updated, a barrier that they are free.
func TestSYN30_ExampleA(t *testing.T) {
	onHalos(t, func(t testing.TB, c *mpi.Comm, s *square, updated mpi.Request, puts []mpi.Request, _ []mpi.Sync, steps int, loiter func()) {
		for range steps {
			ok(t, mpi.Startall(puts))
			ok(t, updated.Start())
			s.fill()
			loiter()
			ok(t, c.Barrier())
			for side := range neighbours {
				s.put(t, side)
			}
			loiter()
			ok(t, mpi.Waitall(puts, nil))
			ok(t, second(updated.Wait()))
			s.step()
		}
	})
}

// Example B: empty messages say that halos are free, and the puts follow the order of their
// arrival. Neighbours may be one iteration apart.
func TestSYN31_ExampleB(t *testing.T) {
	onHalos(t, func(t testing.TB, c *mpi.Comm, s *square, updated mpi.Request, puts []mpi.Request, _ []mpi.Sync, steps int, loiter func()) {
		for range steps {
			ok(t, mpi.Startall(puts))
			ok(t, updated.Start())
			s.fill()
			loiter()
			var sends, recvs []mpi.Request
			for side, r := range s.around { // two neighbours are the same rank: the tag contains the side
				recvs = append(recvs, mpi.Irecv(c, []byte{}, r, 10+side))
				sends = append(sends, mpi.Isend(c, []byte{}, r, 10+(side^1)))
			}
			for range neighbours {
				side, _, err := mpi.Waitany(recvs)
				ok(t, err)
				s.put(t, side)
				loiter()
			}
			ok(t, mpi.Waitall(puts, nil))
			ok(t, mpi.Waitall(sends, nil))
			ok(t, second(updated.Wait()))
			s.step()
		}
	})
}

// Example C, corrected (E0-08, E0-09, E0-10, E0-16): a second object says that halos are free,
// and there are no messages. The requests for that, of mode 0, signal when they are started,
// whether the program waits for them (E0-10: a corrected program does) or not. In one program the handles of both kinds are
// sent with one tag (E0-25).
func TestSYN32_SYN19_ExampleC(t *testing.T) {
	for _, waits := range []bool{true, false} {
		onHalos(t, func(t testing.TB, c *mpi.Comm, s *square, updated mpi.Request, puts []mpi.Request, my []mpi.Sync, steps int, loiter func()) {
			tag := 1
			if waits {
				tag = 2
			}
			to := s.handles(t, c, my[1], tag)
			free := s.win.SyncObjectInit(my[1], neighbours)
			var tell []mpi.Request
			for side, r := range s.around {
				tell = append(tell, s.win.SyncOpsInit(r, 0, to[side]))
			}
			for range steps {
				ok(t, mpi.Startall(puts))
				ok(t, updated.Start())
				ok(t, free.Start())
				s.fill()
				loiter()
				ok(t, mpi.Startall(tell))
				ok(t, second(free.Wait()))
				if waits {
					ok(t, mpi.Waitall(tell, nil))
				}
				for side := range neighbours {
					s.put(t, side)
				}
				loiter()
				ok(t, mpi.Waitall(puts, nil))
				ok(t, second(updated.Wait()))
				s.step()
			}
			ok(t, mpi.Waitall(tell, nil))
			freeAll(t, tell)
			ok(t, free.Free())
		})
	}
}

// With the info key restart requests start by themselves: 1000 waits without Start, and no
// signal is lost (SYN-33).
func TestSYN33_Restart(t *testing.T) {
	onHalos(t, func(t testing.TB, c *mpi.Comm, s *square, _ mpi.Request, _ []mpi.Request, my []mpi.Sync, steps int, loiter func()) {
		again, named := mpi.SyncRestart(true), infoOf(t, "restart", "true")
		to := [2][neighbours]mpi.Sync{s.handles(t, c, my[0], 3), s.handles(t, c, my[1], 4)}
		updated := s.win.SyncObjectInit(my[0], neighbours, again)
		free := s.win.SyncObjectInit(my[1], neighbours, named)
		var puts, tell []mpi.Request
		for side, r := range s.around {
			puts = append(puts, s.win.SyncOpsInit(r, mpi.ModeWinPut, to[0][side], named))
			tell = append(tell, s.win.SyncOpsInit(r, 0, to[1][side], again))
		}
		ok(t, updated.Start())
		ok(t, free.Start())
		ok(t, mpi.Startall(puts))
		ok(t, mpi.Startall(tell))
		for range steps {
			s.fill()
			loiter()
			ok(t, mpi.Waitall(tell, nil))
			ok(t, second(free.Wait()))
			for side := range neighbours {
				s.put(t, side)
			}
			loiter()
			ok(t, mpi.Waitall(puts, nil))
			ok(t, second(updated.Wait()))
			s.step()
		}
		freeAll(t, puts)
		freeAll(t, tell)
		ok(t, updated.Free())
		ok(t, free.Free())
	})
}

// The race in Example C as it is printed: a faster neighbour says that its halo is free before
// this rank has started to wait for that. The proposal's Start would lose that signal silently;
// strict detects it, once before the first Start and once between two (E0-16). The same program
// without strict is correct.
func TestSYN32_SYN27_LiteralRaceIsDetected(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		defer func() { ok(t, w.Free()) }()
		all := syncs(t, c, w.Window)
		me, peer := c.Rank(), c.Rank()^1
		for _, strict := range []bool{true, false} {
			free := w.SyncObjectInit(all[me], 1, mpi.SyncStrict(strict))
			ok(t, c.Barrier())
			for round := range 3 {
				if me > peer { // the fast rank: it does not wait for Start
					ok(t, w.Signal(peer, 0, all[peer]))
					ok(t, mpi.Send(c, []byte{}, peer, 1)) // arrives after the signal
					ok(t, c.Barrier())
					continue
				}
				ok(t, second(mpi.Recv(c, []byte{}, peer, 1)))
				ok(t, free.Start())
				_, err := free.Wait()
				ok(t, c.Barrier())
				if !strict {
					ok(t, err)
					continue
				}
				refused(t, err, mpi.ErrWinCounter, "1 signals came before Start, which sets the counter to 1: they are lost")
				if !errors.Is(err, mpi.ErrRMASync) {
					t.Errorf("round %d: %v is no ErrRMASync", round, err)
				}
			}
			ok(t, c.Barrier())
			ok(t, free.Free())
		}
	})
}
