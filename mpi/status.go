package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Status describes a completed operation. For sends only Err and Cancelled have a meaning.
//
// C: MPI_Status, section 3.2.5.
type Status struct {
	Source int   // rank of the sender
	Tag    int   // tag of the message
	Err    error // outcome of this operation, set by calls that complete several

	bytes     int64
	cancelled bool
}

// emptyStatus is the status of a completed null or inactive request.
func emptyStatus() Status { return Status{Source: AnySource, Tag: AnyTag} }

// Bytes is the length of the received message in bytes.
//
// C: MPI_Get_count with MPI_BYTE, section 3.2.5.
func (s Status) Bytes() int64 { return s.bytes }

// Cancelled reports whether the operation was cancelled.
//
// C: MPI_Test_cancelled, section 3.8.4.
func (s Status) Cancelled() bool { return s.cancelled }

// Count is the number of elements of type T that were received, or Undefined if the message does
// not contain a whole number of them or T is not plain data.
//
// C: MPI_Get_count, section 3.2.5.
func Count[T any](s Status) int {
	size, err := packedSize[T]()
	n := s.bytes / max(size, 1)
	if err != nil || n*size != s.bytes {
		return Undefined
	}
	return int(n)
}

// Count is the number of elements of a type that were received, or Undefined if the message does
// not contain a whole number of them. For a type without data it is 0 if the message is empty,
// else Undefined.
//
// C: MPI_Get_count, section 3.2.5.
func (s Status) Count(d Datatype) (int, error) {
	t, err := d.use(call.GetCount)
	if err != nil {
		return 0, err
	}
	if n, ok := t.Count(s.bytes); ok {
		return int(n), nil
	}
	return Undefined, nil
}

// Elements is the number of basic elements in the received message, whose elements have type d;
// the last element of type d may be incomplete. It is Undefined if the message ends within a
// basic element.
//
// C: MPI_Get_elements, section 5.1.11.
func (s Status) Elements(d Datatype) (int, error) {
	t, err := d.use(call.GetElements)
	if err != nil {
		return 0, err
	}
	if n, ok := t.Elements(s.bytes); ok {
		return int(n), nil
	}
	return Undefined, nil
}

// SetElements makes s the status of a message of n basic elements of a type. The query function
// of a generalized request has to call it. ErrCount if n is negative.
//
// C: MPI_Status_set_elements, section 13.3.
func (s *Status) SetElements(d Datatype, n int) error {
	t, err := d.use(call.StatusSetElements)
	switch {
	case err != nil:
		return err
	case n < 0:
		return fail(ErrCount, call.StatusSetElements, nil, "number of elements is %d, which is negative", n)
	}
	bytes, ok := t.ElementsSize(int64(n))
	if !ok {
		return fail(ErrCount, call.StatusSetElements, nil, "%d elements of %s exceed 64 bits", n, t)
	}
	s.bytes = bytes
	return nil
}

// SetCancelled sets whether the operation counts as cancelled.
//
// C: MPI_Status_set_cancelled, section 13.3.
func (s *Status) SetCancelled(cancelled bool) { s.cancelled = cancelled }

// publicTag converts a tag of the engine to one of the standard.
func publicTag(tag int32) int {
	if tag == p2p.AnyTag {
		return AnyTag
	}
	return int(tag)
}

// engineTag converts a tag of the standard to one of the engine.
func engineTag(tag int) int32 {
	if tag == AnyTag {
		return p2p.AnyTag
	}
	return int32(tag)
}

// set sets st from the status of an operation of the engine, without its error. It copies each
// field separately: a copy of the whole struct would wait for the preceding stores to its parts.
func (st *Status) set(s *p2p.Status) {
	st.Source, st.Tag, st.Err = s.Source, publicTag(s.Tag), nil
	st.bytes, st.cancelled = int64(s.Bytes), s.Cancelled
}

func publicStatus(s *p2p.Status) (st Status) {
	st.set(s)
	return st
}
