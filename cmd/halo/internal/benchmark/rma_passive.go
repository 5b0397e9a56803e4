package benchmark

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

const (
	batchTime  = 2 * time.Microsecond // approximate time of a batch, unless one operation takes longer
	maxBatch   = 64
	settleTime = time.Millisecond // from the barrier to the first operation: then the target computes
)

// passive is the experiment of a busy target: rank 1 computes for Plan.BusyMS and does not
// call Halo, while rank 0 makes up to Plan.Ops operations of one byte or one element, each
// flushed, for at most half of that time. An operation is early if it was complete before
// the target's computation ended, by the clock that the processes of a machine share.
// Before that, rank 0 does the same with an attentive target, which waits in a barrier.
// Latencies are medians; rank 0 reads the clock once for each batch of operations.
//
// The target computes in one goroutine, and then in as many as it can run at the same
// time, so that no idle thread is left to serve rank 0.
func (o *onesided) passive() error {
	busy := []int64{int64(runtime.GOMAXPROCS(0))}
	if err := mpi.Bcast(o.world, busy, 1); err != nil {
		return err
	}
	goroutines := []int{1}
	if busy[0] > 1 {
		goroutines = append(goroutines, int(busy[0]))
	}
	integers := elementsOf[int64](o)
	defer func() { o.elements = nil }()
	for _, op := range []struct {
		name string
		body func(n int) error
		size int
		e    elements
	}{
		{"put", o.putFlush, 1, nil}, {"get", o.getFlush, 1, nil},
		{"acc", integers.accumulate, 8, integers}, {"fop", integers.fetchAndOp, 8, integers},
	} {
		o.size, o.elements = op.size, op.e
		for _, k := range goroutines {
			if err := o.busyTarget(op.name, op.body, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// busyTarget makes one measurement of passive, with a target that computes in k goroutines.
func (o *onesided) busyTarget(op string, body func(n int) error, k int) error {
	if err := o.prepare(op == "get"); err != nil {
		return err
	}
	if err := o.win.Lock(mpi.LockShared, 1, 0); err != nil {
		return err
	}
	if err := o.world.Barrier(); err != nil {
		return err
	}
	length := time.Duration(o.plan.BusyMS) * time.Millisecond
	batch := 1
	var attentive, busy []int64 // the start time, then the completion time of each batch
	var err error
	if o.rank == 0 {
		batch, err = o.batch(body)
		if err == nil {
			attentive, err = o.stamped(body, batch, time.Now().Add(length/4))
		}
		if err != nil {
			return err
		}
	}
	if o.rank == 1 && o.plan.done != nil {
		o.plan.done.Store(false)
	}
	if err := o.world.Barrier(); err != nil {
		return err
	}
	ended := []int64{0}
	if o.rank == 1 {
		ended[0] = compute(length, k, o.plan.done)
	} else {
		start := time.Now()
		for time.Since(start) < settleTime {
		}
		busy, err = o.stamped(body, batch, start.Add(length/2))
		if err != nil {
			return err
		}
		if o.plan.done != nil {
			o.plan.done.Store(true)
		}
	}
	if err := mpi.Bcast(o.world, ended, 1); err != nil {
		return err
	}
	if err := o.inspect(op); err != nil {
		return err
	}
	if err := o.win.Unlock(1); err != nil {
		return err
	}
	if err := o.world.Barrier(); err != nil || o.rank != 0 {
		return err
	}
	early := 0
	for _, at := range busy[1:] {
		if at < ended[0] {
			early += batch
		}
	}
	return o.report.Add(Result{
		Bench: "passive", Fabric: o.plan.Fabric, Ranks: 2, Win: o.kind, Op: op, Busy: k,
		Ops: (len(busy) - 1) * batch, Early: early, US: medianBatch(busy, batch), AttentiveUS: medianBatch(attentive, batch),
	})
}

// batch returns the number of operations between two readings of the clock.
func (o *onesided) batch(body func(n int) error) (int, error) {
	if err := body(3); err != nil {
		return 0, err
	}
	const some = 20
	start := time.Now()
	err := body(some)
	each := time.Since(start) / some
	return max(int(min(batchTime/max(each, 1), maxBatch, time.Duration(o.plan.Ops))), 1), err
}

// stamped runs batches until all operations are done or the time until has passed. It
// returns the start time and then the completion time of each batch.
func (o *onesided) stamped(body func(n int) error, batch int, until time.Time) ([]int64, error) {
	stamps := make([]int64, 1, o.plan.Ops/batch+2)
	stamps[0] = time.Now().UnixNano()
	for n := batch; ; n += batch {
		if err := body(batch); err != nil {
			return nil, err
		}
		now := time.Now().UnixNano()
		stamps = append(stamps, now)
		if n+batch > o.plan.Ops || now >= until.UnixNano() {
			return stamps, nil
		}
	}
}

// medianBatch returns the median time of an operation in us.
func medianBatch(stamps []int64, batch int) float64 {
	per := make([]float64, len(stamps)-1)
	for i := range per {
		per[i] = float64(stamps[i+1]-stamps[i]) / 1e3 / float64(batch)
	}
	return median(per)
}

// compute keeps k goroutines busy for length, or until done is set, and returns the time at
// which the first of them ended.
func compute(length time.Duration, k int, done *atomic.Bool) int64 {
	ends := make([]int64, k)
	sums := make([]float64, k)
	var all sync.WaitGroup
	work := func(me int) {
		until := time.Now().Add(length).UnixNano()
		x := 1.0
		for {
			for range 20000 {
				x = x*1.0000001 + 1e-9
			}
			ended := done != nil && done.Load()
			ends[me] = time.Now().UnixNano()
			if ended || ends[me] >= until {
				break
			}
		}
		sums[me] = x
	}
	for me := 1; me < k; me++ {
		all.Go(func() { work(me) })
	}
	work(0)
	all.Wait()
	if slices.Contains(sums, 0) {
		panic(fmt.Sprintf("benchmark: %v computed nothing", sums))
	}
	return slices.Min(ends)
}
