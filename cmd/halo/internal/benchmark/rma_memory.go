package benchmark

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// pattern returns byte i of the data for put and get: adjacent bytes differ.
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
		if o.plan.WorkerOp == "get" {
			o.prepareCells()
		}
	}
	return o.world.Barrier()
}

// checked measures a loop; it prepares the memory before and inspects it after.
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

// inspect returns an error if rank 1's memory, or for reading benchmarks rank 0's buffer,
// does not have the expected content.
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
		case reads(name):
			wrong[0] = int64(o.differs(o.recv))
		case o.plan.WorkerOp == "get":
			wrong[0] = int64(o.inspectCells(o.recv, 0))
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

// inspectMemory returns how many bytes or elements of rank 1's memory are wrong.
func (o *onesided) inspectMemory(name string, total int64) (wrong int, err error) {
	switch name {
	case "fence", "pscw": // the loop has ended the last epoch
	case "lock", "lockget":
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
	case o.plan.WorkerOp == "get":
		return 0, nil
	case name == "mtflush":
		return o.inspectCells(o.mem, total), nil
	case o.elements != nil:
		return o.elements.differ(o.mem[:o.size], total), nil
	case reads(name):
		return 0, nil
	}
	return o.differs(o.mem), nil
}

// differs counts the bytes that differ from the pattern.
func (o *onesided) differs(mem []byte) (wrong int) {
	for i, b := range mem[:o.size] {
		if b != pattern(i) {
			wrong++
		}
	}
	return wrong
}
