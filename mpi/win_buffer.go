package mpi

// Put copies a Buffer into the memory of a rank: to count elements of type d, whose
// displacement 0 is disp units of the target from the beginning of its memory. It has
// begun when it returns; the Buffer may be used again, and the data is there, when the
// epoch has ended, or after FlushLocal and Flush.
//
// As with messages the two sides may have different layouts of the same numbers, and the
// data may be shorter than there is room for, by whole elements of d; longer data is
// ErrTruncate. With ProcNull nothing happens. Errors of this call and those that
// follow: ErrRank for a target that is none, ErrRMASync without an epoch in which it may be
// accessed, ErrDisp for a negative displacement, ErrRMARange if not all is within the
// target's memory; ErrType, ErrCount and ErrBuffer for what is wrong with Buffer, count
// and type. Then nothing has been changed.
//
// C: MPI_Put and MPI_Put_c, section 12.3.1.
func (u Untyped) Put(origin Buffer, target int, disp int64, count int, d Datatype) error {
	return u.issue(callPut, &operands{place: elementsAt(target, disp, count, d)}, &origin, nil, nil)
}

// Get copies count elements of type d from the memory of a rank into a Buffer, in which
// they are when the epoch has ended, or after FlushLocal: see Put. There may be more room,
// by whole elements of the Buffer.
//
// C: MPI_Get and MPI_Get_c, section 12.3.2.
func (u Untyped) Get(result Buffer, target int, disp int64, count int, d Datatype) error {
	return u.issue(callGet, &operands{place: elementsAt(target, disp, count, d)}, nil, nil, &result)
}

// Accumulate combines the elements of a Buffer with those at the target by a predefined
// operation, or replaces these with Replace, each as a whole whatever others do with it.
// Datatypes on both sides are made of elements of one predefined type, the same one, or it
// is ErrType; operations that are not defined on it are ErrOp, as are those of programs.
// Of no elements neither matters. Else it is as Put.
//
// C: MPI_Accumulate and MPI_Accumulate_c, section 12.3.4.
func (u Untyped) Accumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) error {
	return u.issue(callAccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, nil)
}

// GetAccumulate is Accumulate that fetches what the elements were before into result,
// which has room for just as much. With NoOp they stay as they are, and origin is not
// looked at.
//
// C: MPI_Get_accumulate and MPI_Get_accumulate_c, section 12.3.4.
func (u Untyped) GetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) error {
	return u.issue(callGetAccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, &result)
}

// FetchAndOp is GetAccumulate of one element: value and result are Buffers of one element
// of a predefined type, which is that at the target, too. It is the fastest call that
// changes memory of others in one step.
//
// C: MPI_Fetch_and_op, section 12.3.4.
func (u Untyped) FetchAndOp(value, result Buffer, target int, disp int64, op Op) error {
	return u.issue(callFetchAndOp, &operands{place: place{target: target, disp: disp}, op: op}, &value, nil, &result)
}

// CompareAndSwap replaces the element at the target by value if it equals compare, in one
// step, and fetches what it was into result: three Buffers of one element of a predefined
// type of integers, logicals or bytes, or MPI_CHAR. Others are ErrType.
//
// C: MPI_Compare_and_swap, section 12.3.4.
func (u Untyped) CompareAndSwap(value, compare, result Buffer, target int, disp int64) error {
	return u.issue(callCompareAndSwap, &operands{place: place{target: target, disp: disp}}, &value, &compare, &result)
}
