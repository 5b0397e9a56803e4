package benchmark

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// seeds runs the experiments of `halo bench seeds`: rank 0 is the origin, rank 1 the target.
type seeds struct {
	world  *mpi.Comm
	rank   int
	plan   *Plan
	out    io.Writer
	failed error // first error of a write to out

	allocated mpi.Win[byte]
	dynamic   mpi.Win[byte]
	handle    mpi.Win[byte] // at rank 0: rank 1's memory in dynamic, by its memory handle
	bytes     []byte        // the memory handle
	base      int           // displacement of rank 1's memory in dynamic
	mem       []byte        // attached to dynamic

	same     mpi.Win[byte]   // a duplicate of allocated with its hints; the windows below have others
	ordered  mpi.Win[byte]   // with ordered operations
	asserted mpi.Win[byte]   // with the hint that accumulates are intrinsic
	threads  []mpi.Win[byte] // of thread scope
	both     []mpi.Win[byte] // of thread scope, and ordered

	send []byte
}

// seedsRoom is the size of each window in bytes: seedWorkers times the longest message of the
// experiments with goroutines.
const seedsRoom = seedWorkers * 64 << 10

// seedSizes returns the lengths of messages in bytes.
func seedSizes() []int {
	return []int{1, 4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}
}

// workerSizes returns the lengths of messages in bytes in experiments with goroutines.
func workerSizes() []int { return []int{1, 16, 256, 4 << 10, 64 << 10} }

// runSeeds runs all experiments on two ranks; rank 0 writes points.
func runSeeds(world *mpi.Comm, p *Plan, out io.Writer) error {
	s := &seeds{world: world, rank: world.Rank(), plan: p, out: out, send: make([]byte, seedsRoom/seedWorkers*16)}
	if err := s.open(); err != nil {
		return err
	}
	for _, exp := range []func() error{s.windows, s.busy, s.scopes, s.orders, s.intrinsics, s.listings} {
		if err := exp(); err != nil {
			return err
		}
	}
	return errors.Join(s.close(), s.failed)
}

func (s *seeds) open() (err error) {
	s.allocated, err = mpi.WinAllocate[byte](s.world, seedsRoom)
	if err != nil {
		return err
	}
	s.mem, err = mpi.AllocMem[byte](s.world, seedsRoom)
	if err != nil {
		return err
	}
	s.dynamic.Window, err = s.world.WinCreateDynamic()
	if err != nil {
		return err
	}
	if err := mpi.Attach(s.dynamic.Window, s.mem); err != nil {
		return err
	}
	base := []int64{mpi.Address(s.mem)}
	if err := mpi.Bcast(s.world, base, 1); err != nil {
		return err
	}
	s.base = int(base[0])
	s.bytes = make([]byte, mpi.MaxMemoryHandleSize)
	if s.rank == 1 {
		b, err := mpi.MemhandleCreate(s.dynamic.Window, s.mem, nil)
		if err != nil {
			return err
		}
		copy(s.bytes, b)
	}
	if err := mpi.Bcast(s.world, s.bytes, 1); err != nil || s.rank != 0 {
		return err
	}
	s.handle, err = mpi.WinFromMemhandle[byte](s.dynamic.Window, s.bytes, 1)
	if err != nil {
		return err
	}
	s.same, err = s.allocated.Dup()
	if err != nil {
		return err
	}
	s.ordered, err = s.allocated.Dup(mpi.WinOrder(true))
	if err != nil {
		return err
	}
	s.asserted, err = s.allocated.Dup(mpi.AccumulateIntrinsic(true))
	if err != nil {
		return err
	}
	for range seedWorkers {
		w, err := s.allocated.Dup(mpi.ScopeThread)
		if err != nil {
			return err
		}
		s.threads = append(s.threads, w)
		w, err = s.allocated.Dup(mpi.ScopeThread, mpi.WinOrder(true))
		if err != nil {
			return err
		}
		s.both = append(s.both, w)
	}
	return errors.Join(s.allocated.Lock(mpi.LockShared, 1, 0), s.dynamic.Lock(mpi.LockShared, 1, 0))
}

func (s *seeds) close() error {
	if s.rank == 0 {
		if err := errors.Join(s.allocated.Unlock(1), s.dynamic.Unlock(1), s.handle.Free(), s.same.Free(), s.ordered.Free(), s.asserted.Free()); err != nil {
			return err
		}
		for _, w := range slices.Concat(s.threads, s.both) {
			if err := w.Free(); err != nil {
				return err
			}
		}
	}
	if err := s.world.Barrier(); err != nil {
		return err
	}
	if s.rank == 1 {
		if err := s.dynamic.MemhandleRelease(s.bytes); err != nil {
			return err
		}
	}
	return errors.Join(mpi.Detach(s.dynamic.Window, s.mem), s.dynamic.Free(), mpi.FreeMem(s.world, s.mem), s.allocated.Free())
}

// line is a loop whose time is a point in a series.
type line struct {
	exp, series string
	body        func(n int) error
}

// points measures loops that rank 0 runs while rank 1 is in a barrier. It measures them in turn,
// because they are compared with each other.
func (s *seeds) points(x int, lines ...line) error {
	bodies := make([]func(n int) error, len(lines))
	for i := range bodies {
		bodies[i] = lines[i].body
		if s.rank != 0 {
			bodies[i] = func(int) error { return nil }
		}
	}
	us, err := s.plan.measureInTurn(s.world, bodies...)
	if err != nil {
		return err
	}
	for i, l := range lines {
		s.add(l.exp, l.series, x, us[i])
	}
	return nil
}

func (s *seeds) add(exp, series string, x int, us float64) {
	if s.rank == 0 && s.failed == nil {
		s.failed = Point{exp, s.plan.Fabric, series, float64(x), us}.Write(s.out)
	}
}

// windows runs EXP-1 and EXP-7.
func (s *seeds) windows() error {
	for _, size := range seedSizes() {
		allocated, dynamic := s.putFlush(s.allocated, 0, size), s.putFlush(s.dynamic, s.base, size)
		err := s.points(size, line{"EXP-1", "Halo allocated", allocated}, line{"EXP-1", "Halo dynamic", dynamic})
		if err != nil {
			return err
		}
		err = s.points(size,
			line{"EXP-7", "memory handle", s.putFlush(s.handle, 0, size)},
			line{"EXP-7", "allocated", allocated},
			line{"EXP-7", "duplicate of that", s.putFlush(s.same, 0, size)},
			line{"EXP-7", "dynamic", dynamic},
			line{"EXP-7", "memory handle, made each time", s.putByNewHandle(size)},
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// busy runs EXP-2.
func (s *seeds) busy() error {
	shorten := max(s.plan.shorten, 1)
	for i, w := range []struct {
		win  mpi.Win[byte]
		base int
	}{{s.allocated, 0}, {s.dynamic, s.base}, {s.handle, 0}} {
		if err := s.world.Barrier(); err != nil {
			return err
		}
		start := time.Now()
		n := busyOps / int(shorten)
		if s.rank == 1 {
			compute(busyTime*time.Millisecond/shorten, 1, nil)
		} else if err := s.putFlush(w.win, w.base, 1)(n); err != nil {
			return err
		}
		took := time.Since(start)
		if err := s.world.Barrier(); err != nil {
			return err
		}
		s.add("EXP-2", "Halo", i, micros(took)/float64(n))
	}
	return nil
}

// scopes runs EXP-3, EXP-4 and the part of EXP-6 without ordered windows.
func (s *seeds) scopes() error {
	process := slices.Repeat([]mpi.Win[byte]{s.allocated}, seedWorkers)
	inOrder := slices.Repeat([]mpi.Win[byte]{s.ordered}, seedWorkers)
	for _, size := range workerSizes() {
		alone := func(wins []mpi.Win[byte]) func(n int) error { return s.putInWorkers(wins, 1, size) }
		all := func(wins []mpi.Win[byte]) func(n int) error { return s.putInWorkers(wins, seedWorkers, size) }
		err := errors.Join(
			s.points(size, line{"EXP-3a", "Halo process scope", alone(process)}, line{"EXP-3a", "Halo thread scope", alone(s.threads)}),
			s.points(size, line{"EXP-3b", "Halo process scope", all(process)}, line{"EXP-3b", "Halo thread scope", all(s.threads)}),
			s.points(size,
				line{"EXP-6", "process scope", all(process)}, line{"EXP-6", "process scope, ordered", all(inOrder)},
				line{"EXP-6", "thread scope", all(s.threads)}, line{"EXP-6", "thread scope, ordered", all(s.both)}),
		)
		if err != nil {
			return err
		}
	}
	for workers := 1; workers <= seedWorkers; workers *= 2 {
		err := s.points(workers,
			line{"EXP-4", "Halo process scope", s.putInWorkers(process, workers, 1)},
			line{"EXP-4", "Halo thread scope", s.putInWorkers(s.threads, workers, 1)})
		if err != nil {
			return err
		}
	}
	return nil
}

// orders runs EXP-5.
func (s *seeds) orders() error {
	for _, size := range seedSizes() {
		err := s.points(size,
			line{"EXP-5", "Halo put and flush", s.putFlush(s.allocated, 0, size)},
			line{"EXP-5", "Halo unflushed", s.puts(s.allocated, size)},
			line{"EXP-5", "Halo unflushed, ordered", s.puts(s.ordered, size)})
		if err != nil {
			return err
		}
	}
	return nil
}

// intrinsics runs EXP-8.
func (s *seeds) intrinsics() error {
	err := s.points(8, line{"EXP-8", "fetch_and_op", s.fetch(s.allocated)}, line{"EXP-8", "fetch_and_op, asserted", s.fetch(s.asserted)})
	for _, size := range []int{8, 16, 32, 64, 128} {
		if err != nil {
			return err
		}
		err = s.points(size,
			line{"EXP-8", "accumulate", s.accumulate(s.allocated, size)},
			line{"EXP-8", "accumulate, asserted", s.accumulate(s.asserted, size)})
	}
	return err
}

// listings runs EXP-9.
func (s *seeds) listings() error {
	for _, size := range seedSizes() {
		err := s.points(size,
			line{"EXP-9", "listing 1: put, flush, signal", s.listing(s.allocated, size, true)},
			line{"EXP-9", "listing 2: ordered put, signal", s.listing(s.ordered, size, false)})
		if err != nil {
			return err
		}
	}
	return nil
}
