package benchmark

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

// onesided measures one-sided communication from rank 0 to rank 1. Except in fence,
// pscw and lock both ranks hold a shared lock on rank 1 all the time, so that the
// measurement does not contain the synchronisation. The displacement unit is a byte.
type onesided struct {
	world  *mpi.Comm
	rank   int
	plan   *Plan
	report *Report

	kind string
	win  mpi.Win[byte]
	// parent is the window that win is a duplicate of, if it is a duplicate.
	parent mpi.Win[byte]
	dups   []mpi.Win[byte] // mtflush with -scope or -order: one for each worker
	mem    []byte          // memory of this rank in the window
	base   int             // displacement of rank 1's memory

	size       int
	send, recv []byte
	elements   elements          // acc, getacc, fop and cas: send and recv as elements
	total      int64             // at rank 0: number of operations done on this memory
	other      mpi.Group         // pscw: the other rank
	lock       mpi.LockType      // lock: its type
	workers    int               // mtflush: goroutines at once
	errs       [maxWorkers]error // errors of the workers
}

// oneSided runs a benchmark of one-sided communication for all windows, types and sizes.
func oneSided(world *mpi.Comm, p *Plan, report *Report) error {
	o := &onesided{world: world, rank: world.Rank(), plan: p, report: report}
	most := max(slices.Max(p.Sizes), maxWorkers*cell)
	o.send, o.recv = written[byte](most), written[byte](most)
	if p.Name == "pscw" {
		g, err := world.Group()
		if err == nil {
			o.other, err = g.Incl([]int{1 - o.rank})
		}
		if err != nil {
			return err
		}
	}
	for _, kind := range p.Wins {
		o.kind = kind
		if err := o.open(most); err != nil {
			return fmt.Errorf("a window of kind %s: %w", kind, err)
		}
		if err := o.all(); err != nil {
			return err
		}
		if err := o.close(); err != nil {
			return err
		}
	}
	return nil
}

// all runs all measurements for one window.
func (o *onesided) all() error {
	switch o.plan.Name {
	case "passive":
		return o.passive()
	case "mtflush":
		o.size = 1
		for _, o.workers = range o.plan.Workers {
			if err := o.duplicate(); err != nil {
				return err
			}
			if err := o.once(o.inWorkers, nil); err != nil {
				return err
			}
			for _, d := range o.dups {
				if err := d.Free(); err != nil {
					return err
				}
			}
		}
		return nil
	case "acc", "getacc", "fop", "cas":
		defer func() { o.elements = nil }()
		for _, name := range o.plan.Types {
			e := elementTypes()[name](o)
			body, one := o.typedLoop(e)
			for _, size := range o.plan.Sizes {
				o.elements, o.size = e, size
				if one {
					o.size = e.width()
				}
				if err := o.once(body, nil); err != nil {
					return err
				}
				if one {
					break
				}
			}
		}
		return nil
	}
	for _, o.size = range o.plan.Sizes {
		var err error
		switch o.plan.Name {
		case "put":
			err = o.once(o.putFlush, o.putStream)
		case "get":
			err = o.once(o.getFlush, o.getStream)
		case "fence":
			err = o.once(o.fenceEpochs, nil)
		case "pscw":
			err = o.once(o.pscwEpochs, nil)
		case "lock":
			for _, o.lock = range []mpi.LockType{mpi.LockExclusive, mpi.LockShared} {
				if err == nil {
					err = o.once(o.lockEpochs, nil)
				}
			}
		case "lockget":
			for _, o.lock = range []mpi.LockType{mpi.LockExclusive, mpi.LockShared} {
				if err == nil {
					err = o.once(o.lockGetEpochs, nil)
				}
			}
		case "rput":
			err = o.once(o.rputWait, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *onesided) typedLoop(e elements) (body func(n int) error, one bool) {
	switch o.plan.Name {
	case "acc":
		return e.accumulate, false
	case "getacc":
		return e.getAccumulate, false
	case "fop":
		return e.fetchAndOp, true
	default:
		return e.compareAndSwap, true
	}
}

func (o *onesided) dynamic() bool { return strings.HasPrefix(o.kind, "dynamic") }
func (o *onesided) heap() bool    { return strings.HasSuffix(o.kind, "-heap") }

// open makes a window of the kind with this number of bytes at each rank.
func (o *onesided) open(bytes int) error {
	var err error
	switch o.kind {
	case "allocate":
		o.win, err = mpi.WinAllocate[byte](o.world, bytes)
	case dupKind:
		o.parent, err = mpi.WinAllocate[byte](o.world, bytes)
		if err == nil {
			o.win, err = o.parent.Dup()
		}
	case "shared":
		o.win, err = mpi.WinAllocateShared[byte](o.world, bytes)
	default:
		if o.heap() {
			o.mem = written[byte](bytes)
		} else {
			o.mem, err = mpi.AllocMem[byte](o.world, bytes)
			if err != nil {
				return err
			}
		}
		if o.dynamic() {
			o.win.Window, err = o.world.WinCreateDynamic()
			if err == nil {
				err = mpi.Attach(o.win.Window, o.mem)
			}
		} else {
			o.win, err = mpi.WinCreate(o.world, o.mem)
		}
	}
	if err != nil {
		return err
	}
	o.base = 0
	if o.dynamic() {
		base := []int64{mpi.Address(o.mem)}
		if err := mpi.Bcast(o.world, base, 1); err != nil {
			return err
		}
		o.base = int(base[0])
	} else {
		o.mem = o.win.Local()
	}
	return o.world.Barrier()
}

func (o *onesided) close() error {
	if o.dynamic() {
		if err := o.world.Barrier(); err != nil {
			return err
		}
		if err := mpi.Detach(o.win.Window, o.mem); err != nil {
			return err
		}
	}
	if err := o.win.Free(); err != nil {
		return err
	}
	if o.kind == dupKind {
		return o.parent.Free()
	}
	if o.kind == "create" || o.kind == "dynamic" {
		return mpi.FreeMem(o.world, o.mem)
	}
	return nil
}

// duplicate makes a duplicate of the window for each worker of mtflush, with the hints of the plan,
// or nothing if the plan has no hints.
func (o *onesided) duplicate() error {
	o.dups = nil
	if o.plan.Scope == "" && !o.plan.Order {
		return nil
	}
	scope := mpi.ScopeProcess
	if o.plan.Scope == "thread" {
		scope = mpi.ScopeThread
	}
	for range o.workers {
		d, err := o.win.Dup(mpi.WinOrder(o.plan.Order), scope)
		if err != nil {
			return err
		}
		o.dups = append(o.dups, d)
	}
	return nil
}

// once makes one measurement: for one window, size, type and number of workers. It
// measures the latency of body and, if stream is not nil, the rate of stream.
func (o *onesided) once(body, stream func(n int) error) error {
	name := o.plan.Name
	if err := o.prepare(reads(name)); err != nil {
		return err
	}
	var many float64
	us, err := o.inEpoch(func() (us float64, err error) {
		us, err = o.checked(name, body)
		if err == nil && stream != nil {
			many, err = o.checked(name, stream)
		}
		return us, err
	})
	if err != nil {
		return err
	}
	r := Result{Bench: name, Fabric: o.plan.Fabric, Ranks: o.world.Size(), Size: o.size, Win: o.kind, US: us}
	switch {
	case stream != nil:
		r.Rate = window / many * 1e6
		r.MBps = window * float64(o.size) / many
	case name == "mtflush":
		r.Workers, r.Rate = o.workers, float64(o.workers)/us*1e6
		r.Scope, r.Order, r.Op = o.plan.Scope, o.plan.Order, o.plan.WorkerOp
	case name == "lock" || name == "lockget":
		r.Lock = o.lock.String()
	case o.elements != nil:
		r.Type = o.elements.name()
	}
	return o.report.Add(r)
}

// reads reports whether a benchmark moves data to rank 0.
func reads(name string) bool { return name == "get" || name == "lockget" }

// inEpoch runs f in the epoch that the benchmark needs around its loop, and ends the epoch.
func (o *onesided) inEpoch(f func() (float64, error)) (us float64, err error) {
	switch o.plan.Name {
	case "pscw", "lock", "lockget":
		return f()
	case "fence":
		if err := o.win.Fence(mpi.ModeNoPrecede); err != nil {
			return 0, err
		}
		us, err = f()
		if err == nil {
			err = o.win.Fence(mpi.ModeNoSucceed)
		}
	default:
		if err := o.win.Lock(mpi.LockShared, 1, 0); err != nil {
			return 0, err
		}
		us, err = f()
		if err == nil {
			err = o.win.Unlock(1)
		}
	}
	if err == nil {
		err = o.world.Barrier()
	}
	return us, err
}
