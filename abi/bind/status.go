package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// status is MPI_Status: three fields of the standard, and five of the library's.
type status struct {
	source, tag, err int32
	cancelled        int32
	bytes            int64
	_                [2]int32
}

// load is the status of package mpi.
func (s *status) load() mpi.Status {
	st := mpi.Status{Source: int(s.source), Tag: int(s.tag)}
	st.SetCancelled(s.cancelled != 0)
	if s.bytes > 0 {
		st.SetElements(mpi.Byte(), int(s.bytes)) // cannot fail
	}
	return st
}

// store makes s that of package mpi, without its error: calls that complete one operation
// return that, and leave the field alone.
func (s *status) store(st *mpi.Status) {
	s.source, s.tag = int32(st.Source), int32(st.Tag)
	s.cancelled = 0
	if st.Cancelled() {
		s.cancelled = 1
	}
	s.bytes = st.Bytes()
}

// statusAt is a status of C, nil for MPI_STATUS_IGNORE.
func statusAt(address uintptr) *status { return (*status)(pointer(address)) }

// statusesAt is an array of them, nil for MPI_STATUSES_IGNORE.
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
