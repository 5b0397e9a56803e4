package file

import (
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
)

// InPhases accesses m at the beginning of the view, by aggregators with domains of the bytes [lo, hi). All members
// must pass the same.
func (f *File) InPhases(d Direction, m mem.Mem, lo, hi int64, aggregators int) (int64, error) {
	a, err := f.prepare(d, 0, Data{Mem: m}, false)
	if err != nil {
		return 0, err
	}
	f.stage.refused = true // the exchange of parcels
	x := &exchange{f: f, call: call.CollectiveAccess}
	return x.phases(&a, plan{lo: lo, hi: hi, phases: true, aggregators: aggregators, buffer: int64(a.h.CbBuffer)})
}

// SetClock sets the clock by which the engine measures accesses.
func (e *Engine) SetClock(clock func() time.Duration) { e.clock = clock }

// TrialsEnd is the number of accesses of a shape that are trials.
const TrialsEnd = 2 * tries
