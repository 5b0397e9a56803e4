package mpi

// Send sends buf to rank dest of c and returns when buf may be used again. A
// short message is buffered by the receiver within bounds; otherwise Send waits
// for a matching receive.
//
// buf is plain data, here as in every call that moves slices: numbers, or what TypeOf has a type
// for, such as structs of numbers, of which gaps are not sent. Anything else is ErrType.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrProcFailed.
//
// C: MPI_Send, section 3.2.1.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callSend, m, e, dest, tag)
}

// Ssend is Send that returns only when a matching receive has started.
//
// C: MPI_Ssend, section 3.4.
func Ssend[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callSsend, m, e, dest, tag)
}

// Bsend is Send that never waits for the receiver: the message is copied into
// the attached buffer (BufferAttach). ErrBuffer if it does not fit.
//
// C: MPI_Bsend, section 3.4.
func Bsend[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callBsend, m, e, dest, tag)
}

// Rsend is Send whose caller knows that the matching receive is posted.
//
// C: MPI_Rsend, section 3.4.
func Rsend[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callRsend, m, e, dest, tag)
}

// Isend starts sending buf to rank dest of c. buf must not be written until the
// request is complete. A wrong argument shows when the request is waited for.
//
// C: MPI_Isend, section 3.7.2.
func Isend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIsend, m, e, dest, tag)
}

// Issend is Isend whose request completes only when a matching receive has started.
//
// C: MPI_Issend, section 3.7.2.
func Issend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIssend, m, e, dest, tag)
}

// Ibsend is Isend in buffered mode.
//
// C: MPI_Ibsend, section 3.7.2.
func Ibsend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIbsend, m, e, dest, tag)
}

// Irsend is Isend whose caller knows that the matching receive is posted.
//
// C: MPI_Irsend, section 3.7.2.
func Irsend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIrsend, m, e, dest, tag)
}
