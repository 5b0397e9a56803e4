package benchmark

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

const (
	passiveOps    = 20000 // operations of a cell of passive
	passiveBusyMS = 500   // how long its target computes at most

	cell       = 64 // bytes between the places that two workers put to
	maxWorkers = 64
	maxOps     = 10000000
	maxBusyMS  = 60000
)

// windowKinds are the kinds of windows: where the memory comes from (of create and
// dynamic: AllocMem, or the Go heap), and who told the window of it.
func windowKinds() []string {
	return []string{"allocate", "shared", "create", "dynamic", "create-heap", "dynamic-heap"}
}

// oneSidedNames are the benchmarks of one-sided communication.
func oneSidedNames() []string {
	return []string{"put", "get", "acc", "getacc", "fop", "cas", "fence", "pscw", "lock", "mtflush", "passive"}
}

// Spreads says whether a rank uses several cores at once, and should be bound to none.
func (p *Plan) Spreads() bool { return p.Name == "mtflush" || p.Name == "passive" }

// checkOneSided checks what only one-sided communication has, and fills in what is
// missing.
func (p *Plan) checkOneSided() error {
	if !slices.Contains(oneSidedNames(), p.Name) {
		if p.Wins != nil || p.Types != nil || p.Workers != nil || p.Ops != 0 || p.BusyMS != 0 {
			return fmt.Errorf("%s takes none of the options of one-sided communication", p.Name)
		}
		return nil
	}
	computes := p.Name == "acc" || p.Name == "getacc" || p.Name == "fop" || p.Name == "cas"
	if p.Types != nil && !computes {
		return fmt.Errorf("%s computes nothing at its target: -types is for acc, getacc, fop and cas", p.Name)
	}
	if p.Workers != nil && p.Name != "mtflush" {
		return fmt.Errorf("%s has one worker: -workers is for mtflush", p.Name)
	}
	if (p.Ops != 0 || p.BusyMS != 0) && p.Name != "passive" {
		return fmt.Errorf("%s takes as long as it takes: -ops and -busy-ms are for passive", p.Name)
	}
	switch {
	case p.Wins != nil:
	case p.Name != "passive":
		p.Wins = []string{"allocate"}
	default:
		p.Wins = windowKinds()
		if p.Fabric == "tcp" { // no shared memory there
			p.Wins = slices.DeleteFunc(p.Wins, func(k string) bool { return k == "shared" })
		}
	}
	for _, k := range p.Wins {
		if !slices.Contains(windowKinds(), k) {
			return fmt.Errorf("no kind of window %q; there are %s", k, strings.Join(windowKinds(), ", "))
		}
	}
	if p.Types == nil && computes {
		p.Types = []string{"float64"}
		if p.Name == "fop" || p.Name == "cas" {
			p.Types = []string{"int64"}
		}
	}
	known := elementTypes()
	for _, t := range p.Types {
		if known[t] == nil || p.Name == "cas" && strings.HasPrefix(t, "float") {
			return fmt.Errorf("%s has no elements of type %q; there are %s", p.Name, t, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	if p.Workers == nil && p.Name == "mtflush" {
		p.Workers = []int{1, 2, 4, 8, 16, 32}
	}
	for _, w := range p.Workers {
		if w < 1 || w > maxWorkers {
			return fmt.Errorf("mtflush takes 1 to %d workers, not %d", maxWorkers, w)
		}
	}
	if p.Name == "passive" {
		p.Ops, p.BusyMS = cmp.Or(p.Ops, passiveOps), cmp.Or(p.BusyMS, passiveBusyMS)
		if p.Ops < 1 || p.Ops > maxOps || p.BusyMS < 1 || p.BusyMS > maxBusyMS {
			return fmt.Errorf("passive takes 1 to %d operations and 1 to %d ms, not %d and %d", maxOps, maxBusyMS, p.Ops, p.BusyMS)
		}
	}
	return nil
}

// onesided measures one-sided communication from rank 0 to rank 1. Except in fence,
// pscw and lock both hold a shared lock on rank 1 all the time, so that only what is
// named is measured. Windows count in bytes.
type onesided struct {
	world  *mpi.Comm
	rank   int
	plan   *Plan
	report *Report

	kind string
	win  mpi.Win[byte]
	mem  []byte // this rank's in the window
	base int    // where rank 1's begins

	size       int
	send, recv []byte
	elements   elements          // acc, getacc, fop and cas: send and recv as such
	total      int64             // at rank 0: operations done on this memory
	other      mpi.Group         // pscw: the other rank
	lock       mpi.LockType      // lock: its type
	workers    int               // mtflush: goroutines at once
	errs       [maxWorkers]error // theirs
}

// oneSided runs a benchmark of one-sided communication: all windows, types and sizes.
func oneSided(world *mpi.Comm, p *Plan, report *Report) error {
	o := &onesided{world: world, rank: world.Rank(), plan: p, report: report}
	most := max(slices.Max(p.Sizes), maxWorkers*cell)
	o.send, o.recv = make([]byte, most), make([]byte, most)
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

// all is everything that is measured of one window.
func (o *onesided) all() error {
	switch o.plan.Name {
	case "passive":
		return o.passive()
	case "mtflush":
		o.size = 1
		for _, o.workers = range o.plan.Workers {
			if err := o.once(o.putInWorkers, nil); err != nil {
				return err
			}
		}
		return nil
	case "acc", "getacc", "fop", "cas":
		defer func() { o.elements = nil }()
		for _, name := range o.plan.Types {
			e := elementTypes()[name](o)
			body, one := o.typedLoop(e)
			for _, size := range o.plan.Sizes {
				if o.elements, o.size = e, size; one {
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

// open makes a window of the kind with so many bytes at each rank.
func (o *onesided) open(bytes int) error {
	var err error
	switch o.kind {
	case "allocate":
		o.win, err = mpi.WinAllocate[byte](o.world, bytes, nil)
	case "shared":
		o.win, err = mpi.WinAllocateShared[byte](o.world, bytes, nil)
	default:
		if o.heap() {
			o.mem = make([]byte, bytes)
		} else if o.mem, err = mpi.AllocMem[byte](o.world, bytes, nil); err != nil {
			return err
		}
		if o.dynamic() {
			if o.win.Window, err = o.world.WinCreateDynamic(nil); err == nil {
				err = mpi.Attach(o.win.Window, o.mem)
			}
		} else {
			o.win, err = mpi.WinCreate(o.world, o.mem, nil)
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
	if o.kind == "create" || o.kind == "dynamic" {
		return mpi.FreeMem(o.world, o.mem)
	}
	return nil
}

// once is one measurement: one window, size, type, number of workers. Beside the
// latency of body that of stream is measured, if there is one.
func (o *onesided) once(body, stream func(n int) error) error {
	name := o.plan.Name
	if err := o.prepare(name == "get"); err != nil {
		return err
	}
	var many float64
	us, err := o.inEpoch(func() (us float64, err error) {
		if us, err = o.checked(name, body); err == nil && stream != nil {
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
	case name == "lock":
		r.Lock = o.lock.String()
	case o.elements != nil:
		r.Type = o.elements.name()
	}
	return o.report.Add(r)
}

// inEpoch runs f in the epoch that the benchmark wants around its loop, and ends it.
func (o *onesided) inEpoch(f func() (float64, error)) (us float64, err error) {
	switch o.plan.Name {
	case "pscw", "lock":
		return f()
	case "fence":
		if err := o.win.Fence(mpi.ModeNoPrecede); err != nil {
			return 0, err
		}
		if us, err = f(); err == nil {
			err = o.win.Fence(mpi.ModeNoSucceed)
		}
	default:
		if err := o.win.Lock(mpi.LockShared, 1, 0); err != nil {
			return 0, err
		}
		if us, err = f(); err == nil {
			err = o.win.Unlock(1)
		}
	}
	if err == nil {
		err = o.world.Barrier()
	}
	return us, err
}

// pattern is what is put and got: no two neighbours are the same.
func pattern(i int) byte { return byte(i*7 + i/251 + 1) }

// prepare fills the buffers and the memory for one measurement, outside all epochs.
func (o *onesided) prepare(get bool) error {
	o.total = 0
	clear(o.mem)
	clear(o.recv)
	if o.elements != nil {
		o.elements.fill()
	} else {
		for i := range o.size {
			o.send[i] = pattern(i)
		}
		if get {
			copy(o.mem, o.send[:o.size])
		}
	}
	return o.world.Barrier()
}

// checked measures a loop, and looks at the memory before and behind.
func (o *onesided) checked(name string, body func(n int) error) (float64, error) {
	if err := body(3); err != nil {
		return 0, err
	}
	if err := o.inspect(name); err != nil {
		return 0, err
	}
	us, err := o.plan.measure(o.world, body)
	if err != nil {
		return 0, err
	}
	return us, o.inspect(name)
}

// inspect looks whether rank 1's memory (for get and friends rank 0's buffer) holds
// what it should.
func (o *onesided) inspect(name string) error {
	if err := o.world.Barrier(); err != nil {
		return err
	}
	total := []int64{o.total}
	if err := mpi.Bcast(o.world, total, 0); err != nil {
		return err
	}
	wrong := []int64{0}
	if o.rank == 1 {
		n, err := o.inspectMemory(name, total[0])
		if err != nil {
			return err
		}
		wrong[0] = int64(n)
	} else {
		switch {
		case name == "get":
			wrong[0] = int64(o.differs(o.recv))
		case name == "getacc" || name == "fop" || name == "cas":
			if !o.elements.fetched(total[0] - 1) {
				wrong[0] = 1
			}
		}
	}
	all := []int64{0}
	if err := mpi.Allreduce(o.world, wrong, all, mpi.Sum); err != nil {
		return err
	}
	if all[0] != 0 {
		return fmt.Errorf("%s, window %s, %d bytes: the memory does not hold what was put, got or summed: %d are wrong",
			name, o.kind, o.size, all[0])
	}
	return nil
}

// inspectMemory says how much of rank 1's memory is not what it should be.
func (o *onesided) inspectMemory(name string, total int64) (wrong int, err error) {
	switch name {
	case "fence", "pscw": // the epoch has ended just now
	case "lock":
		if err := o.win.Lock(mpi.LockShared, 1, 0); err != nil {
			return 0, err
		}
		defer func() {
			if e := o.win.Unlock(1); err == nil {
				err = e
			}
		}()
		fallthrough
	default:
		if err := o.win.Sync(); err != nil {
			return 0, err
		}
	}
	switch {
	case name == "mtflush":
		for w := range o.workers {
			if o.mem[w*cell] != pattern(0) {
				wrong++
			}
		}
		return wrong, nil
	case o.elements != nil:
		return o.elements.differ(o.mem[:o.size], total), nil
	case name == "get":
		return 0, nil
	}
	return o.differs(o.mem), nil
}

// differs counts the bytes that are not the pattern's.
func (o *onesided) differs(mem []byte) (wrong int) {
	for i, b := range mem[:o.size] {
		if b != pattern(i) {
			wrong++
		}
	}
	return wrong
}
