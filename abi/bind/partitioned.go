package bind

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// partitions describes a buffer of partitions of count elements each. A number of partitions that
// is wrong is found by the call that gets the buffer.
func (l *Lib) partitions(address uintptr, partitions, count int, d mpi.Datatype) mpi.Buffer {
	n := count
	if count > 0 {
		hi, lo := bits.Mul64(uint64(max(partitions, 0)), uint64(count))
		n = int(lo)
		if hi != 0 || n < 0 {
			return engine.BufError(mpi.ErrCount, "%d partitions of %d elements", partitions, count)
		}
	}
	return l.buf(address, n, d)
}

// partitioned returns the request of a handle, for calls that take no pointer to it.
func (l *Lib) partitioned(h handle, by call.Number) (mpi.Request, error) {
	if h == requestNull {
		return mpi.Request{}, l.fail(mpi.ErrRequest, by, "request is MPI_REQUEST_NULL")
	}
	if q, ok := l.find(l.undone(h)); ok {
		return q, nil
	}
	return mpi.Request{}, l.noRequest(by, h)
}

// pready is MPI_Pready.
func (l *Lib) pready(h handle, i int) error {
	q, err := l.partitioned(h, call.Pready)
	if err != nil {
		return err
	}
	return q.Pready(i)
}

// preadyRange is MPI_Pready_range.
func (l *Lib) preadyRange(h handle, low, high int) error {
	q, err := l.partitioned(h, call.PreadyRange)
	if err != nil {
		return err
	}
	return q.PreadyRange(low, high)
}

// preadyList is MPI_Pready_list.
func (l *Lib) preadyList(a args) error {
	n := a.int(0)
	if n < 0 || n > 0 && a.result(1) == nil {
		return l.fail(mpi.ErrArg, call.PreadyList, "array of %d partitions at %#x", n, a.word(1))
	}
	q, err := l.partitioned(a.word(2), call.PreadyList)
	if err != nil {
		return err
	}
	return q.PreadyList(a.numbers(1).ints(n))
}

// parrived is MPI_Parrived.
func (l *Lib) parrived(a args) error {
	if err := l.need(call.Parrived, a, "flag", 2); err != nil {
		return err
	}
	h := a.word(0)
	if h == requestNull {
		a.setBool(2, true)
		return nil
	}
	q, err := l.partitioned(h, call.Parrived)
	if err != nil {
		return err
	}
	there, err := q.Parrived(a.int(1))
	a.setBool(2, there)
	return err
}
