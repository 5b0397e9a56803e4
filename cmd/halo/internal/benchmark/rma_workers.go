package benchmark

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// workerOps returns what the workers of mtflush can do before each flush. Each has a cell of rank 1's
// memory: they put or get its first byte, or add 1 to its first int64 by fetch_and_op or
// compare_and_swap.
func workerOps() []string { return []string{"put", "get", "fop", "cas"} }

// inWorkers runs all workers at the same time; each does its operation and flushes, n times.
func (o *onesided) inWorkers(n int) error {
	if o.rank != 0 {
		return nil
	}
	start := o.total
	o.total += int64(n)
	var others sync.WaitGroup
	for w := 1; w < o.workers; w++ {
		others.Go(func() { o.errs[w] = o.inWorker(w, n, start) })
	}
	o.errs[0] = o.inWorker(0, n, start)
	others.Wait()
	return errors.Join(o.errs[:]...)
}

// inWorker is the loop of one worker. start is how often all workers have run theirs before.
func (o *onesided) inWorker(worker, n int, start int64) error {
	win, in, out, at := o.win, o.recv[worker*cell:][:1], o.send[:1], o.base+worker*cell
	if o.dups != nil {
		win = o.dups[worker]
	}
	words := mpi.Win[int64](win)
	value := make([]int64, 3) // of an operation, expected, and fetched
	for i := range int64(n) {
		var err error
		switch o.plan.WorkerOp {
		case "get":
			err = win.Get(in, 1, at)
		case "fop":
			value[0] = 1
			err = words.FetchAndOp(&value[0], &value[2], 1, at, mpi.Sum)
		case "cas":
			value[0], value[1] = start+i+1, start+i
			err = words.CompareAndSwap(&value[0], &value[1], &value[2], 1, at)
		default:
			err = win.Put(out, 1, at)
		}
		if err != nil {
			return err
		}
		if err := win.Flush(1); err != nil {
			return err
		}
	}
	return nil
}

// prepareCells fills the memory that the workers get.
func (o *onesided) prepareCells() {
	for w := range o.workers {
		o.mem[w*cell] = pattern(0)
	}
}

// inspectCells returns how many cells of memory of either rank are wrong, when each worker has run its
// loop total times.
func (o *onesided) inspectCells(mem []byte, total int64) (wrong int) {
	for w := range o.workers {
		at := mem[w*cell:]
		switch o.plan.WorkerOp {
		case "fop", "cas":
			if int64(binary.NativeEndian.Uint64(at)) != total {
				wrong++
			}
		default:
			if at[0] != pattern(0) {
				wrong++
			}
		}
	}
	return wrong
}
