package mpi

import "github.com/halo-mpi/halo/internal/call"

// Put copies a Buffer into the memory of a rank, to count elements of type d, whose displacement
// 0 is disp displacement units of the target from the beginning of its memory. When Put returns,
// the operation has only begun. The program may reuse the Buffer after FlushLocal, and the data
// is at the target after Flush; the end of the epoch does both.
//
// As with messages, the two sides may have different layouts of the same basic types, and the
// data may be shorter than count elements, by whole elements of d; longer data is ErrTruncate.
// With ProcNull nothing happens.
//
// Errors of this call and those that follow: ErrRank for an invalid target; ErrRMASync without
// an epoch in which the target may be accessed; ErrDisp for a negative displacement; ErrRMARange
// if the access is not within the target's memory; ErrType, ErrCount and ErrBuffer for an
// invalid Buffer, count or type. A call that returns an error has changed nothing.
//
// C: MPI_Put and MPI_Put_c, section 12.3.1.
func (u Untyped) Put(origin Buffer, target int, disp int64, count int, d Datatype) error {
	return u.issue(call.Put, &operands{place: elementsAt(target, disp, count, d)}, &origin, nil, nil)
}

// Get copies count elements of type d from the memory of a rank into a Buffer. The Buffer
// contains them after FlushLocal or the end of the epoch: see Put. The Buffer may be longer, by
// whole elements.
//
// C: MPI_Get and MPI_Get_c, section 12.3.2.
func (u Untyped) Get(result Buffer, target int, disp int64, count int, d Datatype) error {
	return u.issue(call.Get, &operands{place: elementsAt(target, disp, count, d)}, nil, nil, &result)
}

// Accumulate combines the elements of a Buffer with those at the target by a predefined
// operation; Replace replaces them. Each element is updated atomically with respect to other
// accumulates. ErrType unless the datatypes of both sides consist of elements of the same
// predefined type. ErrOp for an operation that is not defined on that type, or is user-defined.
// If there are no elements neither is checked. Padding of pairs is not changed. Otherwise it is like Put.
//
// C: MPI_Accumulate and MPI_Accumulate_c, section 12.3.4.
func (u Untyped) Accumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) error {
	return u.issue(call.Accumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, nil)
}

// GetAccumulate is Accumulate that also fetches the previous values of the elements into result,
// which has room for exactly these. With NoOp the elements do not change, and origin is ignored.
//
// C: MPI_Get_accumulate and MPI_Get_accumulate_c, section 12.3.4.
func (u Untyped) GetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) error {
	return u.issue(call.GetAccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, &result)
}

// FetchAndOp is GetAccumulate of one element: value and result are Buffers of one element of a
// predefined type, which is also the type of the element at the target. It is the fastest call
// for an atomic update of another process's memory.
//
// C: MPI_Fetch_and_op, section 12.3.4.
func (u Untyped) FetchAndOp(value, result Buffer, target int, disp int64, op Op) error {
	return u.issue(call.FetchAndOp, &operands{place: place{target: target, disp: disp}, op: op}, &value, nil, &result)
}

// CompareAndSwap atomically replaces the element at the target by value if it equals compare,
// and fetches its previous value into result. The three Buffers have one element of a predefined
// type of integers, logicals or bytes, or of MPI_CHAR. ErrType for other types.
//
// C: MPI_Compare_and_swap, section 12.3.4.
func (u Untyped) CompareAndSwap(value, compare, result Buffer, target int, disp int64) error {
	return u.issue(call.CompareAndSwap, &operands{place: place{target: target, disp: disp}}, &value, &compare, &result)
}
