package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// status is MPI_Status: three ints that the standard names, and five for the library.
type status struct {
	source, tag, err int32
	cancelled        int32
	bytes            int64
	_                [2]int32
}

// load converts s to a status of package mpi.
func (s *status) load() mpi.Status {
	st := mpi.Status{Source: int(s.source), Tag: int(s.tag)}
	st.SetCancelled(s.cancelled != 0)
	if s.bytes > 0 {
		st.SetElements(mpi.Byte(), int(s.bytes)) // cannot fail
	}
	return st
}

// store sets s to a status of package mpi, except for the error field: calls that complete one
// operation return the error and must not change the field.
func (s *status) store(st *mpi.Status) {
	s.source, s.tag = int32(st.Source), int32(st.Tag)
	s.setCancelled(st.Cancelled())
	s.bytes = st.Bytes()
}

// statusAt returns the status at an address, nil for MPI_STATUS_IGNORE.
func statusAt(address uintptr) *status { return (*status)(pointer(address)) }

// statusesAt returns an array of statuses, nil for MPI_STATUSES_IGNORE.
func statusesAt(address uintptr, n int) []status {
	if p := pointer(address); p != nil && n > 0 {
		return unsafe.Slice((*status)(p), n)
	}
	return nil
}

// setStatus stores the status of one operation.
func (a args) setStatus(i int, st mpi.Status) {
	if s := statusAt(a.word(i)); s != nil {
		s.store(&st)
	}
}

// status returns the status at an address, which must not be MPI_STATUS_IGNORE.
func (l *Lib) status(address uintptr, by call.Number) (*status, error) {
	if s := statusAt(address); s != nil {
		return s, nil
	}
	return nil, l.fail(mpi.ErrArg, by, "status is %#x, which is no address of one", address)
}

// setElements is MPI_Status_set_elements.
func (s *status) setElements(d mpi.Datatype, n int) error {
	st := s.load()
	if err := st.SetElements(d, n); err != nil {
		return err
	}
	s.bytes = st.Bytes()
	return nil
}

// setCancelled is MPI_Status_set_cancelled.
func (s *status) setCancelled(cancelled bool) {
	s.cancelled = 0
	if cancelled {
		s.cancelled = 1
	}
}
