package benchmark

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/mpi"
)

const (
	phaseBlock  = 50              // steps between two looks at the clock
	phaseSteps  = 20000           // most steps
	phaseTime   = time.Second / 2 // after which no block begins
	exchanged   = 1920            // bytes of a message of exchange
	stencilSide = 1024            // bytes of a message of stencil
)

// phaseOps are the operations between phases of computation.
func phaseOps() []string {
	return []string{"exchange", "stencil", "allreduce", "barrier", "fence", "lock", "pscw", "notify"}
}

// checkPhases checks the fields of phases.
func (p *Plan) checkPhases() error {
	switch {
	case p.Name != "phases":
		if p.Uneven != "" {
			return fmt.Errorf("%s has no computation: -uneven is for phases", p.Name)
		}
	case p.WorkerOp != "" && !slices.Contains(phaseOps(), p.WorkerOp):
		return fmt.Errorf("phases has the operations %s, not %q", strings.Join(phaseOps(), ", "), p.WorkerOp)
	case p.Uneven != "" && p.Uneven != "varied" && p.Uneven != "skewed":
		return fmt.Errorf("-uneven is varied or skewed, not %q", p.Uneven)
	}
	return nil
}

// phases measures communication between phases of computation, of us microseconds each: bench/phases.h describes it,
// and has the same loops in C.
func phases(world *mpi.Comm, p *Plan, us int, report *Report) error {
	for _, name := range phaseOps() {
		if p.WorkerOp != "" && p.WorkerOp != name {
			continue
		}
		s, err := newPhaseOp(world, name)
		if err != nil {
			return err
		}
		if err := measurePhases(world, p, s, us, report); err != nil {
			return err
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// measurePhases measures one operation.
func measurePhases(world *mpi.Comm, p *Plan, s *phaseOp, us int, report *Report) error {
	limit := phaseTime / max(p.shorten, 1)
	l := &phaseLoop{world: world, step: s.step, us: float64(us), roundsInUS: roundsInUS(),
		uneven: p.Uneven, seed: uint32(world.Rank() + 1), calculated: 1}
	times, processor, whole, err := l.run(limit)
	if err != nil {
		return err
	}
	all := make([]float64, world.Size()*len(times))
	sum := []float64{0}
	if err := errors.Join(mpi.Gather(world, times, all, 0), mpi.Reduce(world, []float64{processor}, sum, mpi.Sum, 0)); err != nil {
		return err
	}
	slices.Sort(all)
	mean := 0.0
	for _, t := range all {
		mean += t / float64(len(all))
	}
	return report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: us, Op: s.name, Layout: p.Uneven, US: median(all),
		P99: all[len(all)*99/100], Mean: mean, Processor: sum[0] / float64(world.Size()), Whole: whole})
}

// phaseLoop is a loop of steps, each a computation and an operation.
type phaseLoop struct {
	world      *mpi.Comm
	step       func() error
	us         float64 // of a computation
	roundsInUS float64 // of calculate
	uneven     string
	seed       uint32
	calculated float64
}

// run runs steps, and returns the times of the operations in us, the processor time of a step beyond the
// computation, and the time of a whole step. The first block warms up.
func (l *phaseLoop) run(limit time.Duration) (times []float64, processor, whole float64, err error) {
	times = make([]float64, 0, phaseSteps+phaseBlock)
	more := []bool{true}
	spent, computed := time.Duration(0), 0.0
	if err := l.world.Barrier(); err != nil {
		return nil, 0, 0, err
	}
	begin := time.Now()
	warmed := begin
	for warm := true; more[0]; warm = false {
		n, before := len(times), sys.ProcessorTime()
		for range phaseBlock {
			part := l.part()
			l.calculated = calculate(l.calculated, int(part*l.us*l.roundsInUS))
			start := time.Now()
			if err := l.step(); err != nil {
				return nil, 0, 0, err
			}
			times = append(times, micros(time.Since(start)))
			if !warm {
				computed += part * l.us
			}
		}
		if warm {
			times = times[:n]
		} else {
			spent += sys.ProcessorTime() - before
		}
		more[0] = time.Since(begin) < limit && len(times)+phaseBlock <= phaseSteps || len(times) == 0
		if err := mpi.Bcast(l.world, more, 0); err != nil {
			return nil, 0, 0, err
		}
		if warm {
			warmed = time.Now()
		}
	}
	n := float64(len(times))
	return times, (micros(spent) - computed) / n, micros(time.Since(warmed)) / n, nil
}

// part returns how much of a computation this rank does in the next step.
func (l *phaseLoop) part() float64 {
	switch {
	case l.uneven == "varied":
		l.seed = l.seed*1103515245 + 12345
		return 0.8 + 0.4*float64(l.seed>>8)/(1<<24)
	case l.uneven == "skewed" && l.world.Rank() == 0:
		return 2
	}
	return 1
}

// calculate computes with x for n rounds. It is not inlined: the code must be the same where its speed is measured and
// where it is used. Inlined in roundsInUS it took a sixth of the time.
//
//go:noinline
func calculate(x float64, n int) float64 {
	for range n {
		x = x*0.999999 + 1e-6
	}
	return x
}

// roundsInUS returns how many rounds of calculate take a microsecond on a core that nobody else uses.
func roundsInUS() float64 {
	const n = 20000
	least, x := time.Hour, 1.0
	for range 50 {
		start := time.Now()
		x = calculate(x, n)
		least = min(least, time.Since(start))
	}
	return n * x / micros(least) // x is 1: without it nothing would have to be computed
}

// phaseOp is an operation between phases of computation, and what it needs.
type phaseOp struct {
	name  string
	step  func() error
	close func() error
}

func newPhaseOp(world *mpi.Comm, name string) (s *phaseOp, err error) {
	s = &phaseOp{name: name, close: func() error { return nil }}
	next, previous := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
	send, recv := written[byte](2*exchanged), written[byte](2*exchanged)
	switch name {
	case "exchange":
		requests := make([]mpi.Request, 4)
		s.step = func() error {
			requests[0] = mpi.Irecv(world, recv[:exchanged], previous, 1)
			requests[1] = mpi.Irecv(world, recv[exchanged:], next, 2)
			requests[2] = mpi.Isend(world, send[:exchanged], next, 1)
			requests[3] = mpi.Isend(world, send[exchanged:], previous, 2)
			return mpi.Waitall(requests, nil)
		}
	case "stencil":
		grid, err := fivePoint(world)
		if err != nil {
			return nil, err
		}
		n := len(grid.to)
		grid.size, grid.send, grid.recv = stencilSide, written[byte](n*stencilSide), written[byte](n*stencilSide)
		grid.requests = make([]mpi.Request, 2*n)
		s.step = func() error { return grid.messages(1) }
		s.close = grid.comm.Free
	case "allreduce":
		term, sum := []float64{0}, []float64{0}
		s.step = func() error { return mpi.Allreduce(world, term, sum, mpi.Sum) }
	case "barrier":
		s.step = world.Barrier
	default:
		return onesidedPhase(world, s, next, previous)
	}
	return s, nil
}

// onesidedPhase fills in the operations on a window.
func onesidedPhase(world *mpi.Comm, s *phaseOp, next, previous int) (*phaseOp, error) {
	win, err := mpi.WinAllocate[byte](world, 8)
	if err != nil {
		return nil, err
	}
	data := written[byte](8)
	s.close = win.Free
	switch s.name {
	case "fence":
		s.step = func() error {
			if err := win.Put(data, next, 0); err != nil {
				return err
			}
			return win.Fence(0)
		}
		s.close = func() error { return errors.Join(win.Fence(mpi.ModeNoSucceed), win.Free()) }
		return s, win.Fence(0)
	case "lock":
		s.step = func() error {
			if err := win.Lock(mpi.LockExclusive, next, 0); err != nil {
				return err
			}
			if err := win.Put(data, next, 0); err != nil {
				return err
			}
			return win.Unlock(next)
		}
	case "pscw":
		all, err := world.Group()
		if err != nil {
			return nil, err
		}
		to, err := all.Incl([]int{next})
		if err != nil {
			return nil, err
		}
		from, err := all.Incl([]int{previous})
		if err != nil {
			return nil, err
		}
		s.step = func() error {
			if err := win.Post(from, 0); err != nil {
				return err
			}
			if err := win.Start(to, 0); err != nil {
				return err
			}
			if err := win.Put(data, next, 0); err != nil {
				return err
			}
			if err := win.Complete(); err != nil {
				return err
			}
			return win.Wait()
		}
	case "notify":
		if err := errors.Join(win.NotifySetNum(1), win.LockAll(0)); err != nil {
			return nil, err
		}
		arrived := win.NotifyInit(0, 1)
		s.step = func() error {
			if err := arrived.Start(); err != nil {
				return err
			}
			if err := win.PutNotify(data, next, 0, 0); err != nil {
				return err
			}
			_, err := arrived.Wait()
			return err
		}
		s.close = func() error { return errors.Join(arrived.Free(), win.UnlockAll(), win.Free()) }
	}
	return s, nil
}
