package benchmark

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/mpi"
)

// defaultPartitions is the number of partitions of a message.
const defaultPartitions = 64

// checkPartitioned checks the fields of partitioned, and fills in defaults.
func (p *Plan) checkPartitioned() error {
	if p.Name != "partitioned" {
		if p.Partitions != 0 {
			return fmt.Errorf("%s has no partitions: -partitions is for partitioned", p.Name)
		}
		return nil
	}
	p.Partitions = cmp.Or(p.Partitions, defaultPartitions)
	if p.Workers == nil {
		p.Workers = []int{1, 2, 8}
	}
	for _, w := range p.Workers {
		if w < 1 || w > maxWorkers {
			return fmt.Errorf("partitioned takes 1 to %d workers, not %d", maxWorkers, w)
		}
	}
	for _, s := range p.Sizes {
		if s < 1 || p.Partitions < 1 || p.Partitions > maxSize/s {
			return fmt.Errorf("partitioned takes from 1 to %d bytes in all, not %d partitions of %d", maxSize, p.Partitions, s)
		}
	}
	return nil
}

// partitioning measures messages whose partitions several goroutines fill: as a partitioned send,
// and as one Isend for each partition, in memory of the program and of AllocMem. size is the
// length of a partition in bytes. The time is that of a whole message.
func partitioning(world *mpi.Comm, p *Plan, size int, report *Report) error {
	for _, workers := range p.Workers {
		for _, kind := range []string{"heap", "alloc"} {
			mem := written[byte](p.Partitions * size)
			if kind == "alloc" {
				var err error
				mem, err = mpi.AllocMem[byte](world, p.Partitions*size)
				if err != nil {
					return err
				}
				clear(mem)
			}
			l := &partitionLoop{world: world, sends: world.Rank() == 0, mem: mem, parts: p.Partitions, size: size, workers: workers}
			us, err := l.measure(p)
			if err != nil {
				return err
			}
			for i, way := range []string{"partitioned", "isend"} {
				if err := report.Add(Result{Bench: p.Name, Fabric: p.Fabric, Ranks: 2, Size: size, Layout: way + " " + kind, Workers: workers, US: us[i]}); err != nil {
					return err
				}
			}
			if kind == "alloc" {
				if err := mpi.FreeMem(world, mem); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// partitionLoop is a message from rank 0 to rank 1.
type partitionLoop struct {
	world                *mpi.Comm
	sends                bool
	mem                  []byte
	parts, size, workers int
	request              mpi.Request
}

func (l *partitionLoop) measure(p *Plan) (us []float64, err error) {
	if l.sends {
		l.request = mpi.PsendInit(l.world, l.mem, l.parts, 1, tagData)
	} else {
		l.request = mpi.PrecvInit(l.world, l.mem, l.parts, 0, tagData)
	}
	us, err = p.measureInTurn(l.world, l.partitioned, l.isends)
	if err == nil {
		err = l.request.Free()
	}
	return us, err
}

// partitioned is n rounds of a partitioned message.
func (l *partitionLoop) partitioned(n int) error {
	if !l.sends {
		for range n {
			if err := l.request.Start(); err != nil {
				return err
			}
			if _, err := l.request.Wait(); err != nil {
				return err
			}
		}
		return nil
	}
	return l.inWorkers(n, l.request.Start, func(first, end int) error {
		for i := first; i < end; i++ {
			if err := l.request.Pready(i); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		_, err := l.request.Wait()
		return err
	})
}

// isends is the same with a message for each partition.
func (l *partitionLoop) isends(n int) error {
	part := func(i int) []byte { return l.mem[i*l.size : (i+1)*l.size] }
	if !l.sends {
		requests := make([]mpi.Request, l.parts)
		for range n {
			for i := range requests {
				requests[i] = mpi.Irecv(l.world, part(i), 0, i)
			}
			if err := mpi.Waitall(requests, nil); err != nil {
				return err
			}
		}
		return nil
	}
	all := make([]mpi.Request, l.parts)
	nothing := func() error { return nil }
	return l.inWorkers(n, nothing, func(first, end int) error {
		for i := first; i < end; i++ {
			all[i] = mpi.Isend(l.world, part(i), 1, i)
		}
		return mpi.Waitall(all[first:end], nil)
	}, nothing)
}

// inWorkers runs n rounds: begin, then do in all workers, each for partitions of its own, then end.
// Workers wait for a round by a loop that yields, in C as well, so that what is measured is not how
// fast threads wake up.
func (l *partitionLoop) inWorkers(n int, begin func() error, do func(first, end int) error, end func() error) error {
	var round, done atomic.Int64
	var all sync.WaitGroup
	failures := make([]error, l.workers)
	share := func(w int) {
		if err := do(w*l.parts/l.workers, (w+1)*l.parts/l.workers); err != nil && failures[w] == nil {
			failures[w] = err
		}
		done.Add(1)
	}
	for w := 1; w < l.workers; w++ {
		all.Go(func() {
			for k := range n {
				for round.Load() <= int64(k) {
					yield()
				}
				share(w)
			}
		})
	}
	for k := range n {
		if err := begin(); err != nil {
			return err
		}
		round.Store(int64(k + 1))
		share(0)
		for done.Load() < int64((k+1)*l.workers) {
			yield()
		}
		if err := end(); err != nil {
			return err
		}
	}
	all.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// yield lets another goroutine and another process run, as sched_yield does in C: with Gosched alone
// the workers would keep all cores from the other rank.
func yield() {
	runtime.Gosched()
	sys.Yield()
}
