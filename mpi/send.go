package mpi

// Send sends buf to rank dest of c and returns when buf may be used again. A
// short message is buffered by the receiver within bounds; otherwise Send waits
// for a matching receive.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrProcFailed.
//
// C: MPI_Send, section 3.2.1.
func Send[T Elem](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callSend, m, e, dest, tag)
}

// Ssend is Send that returns only when a matching receive has started.
//
// C: MPI_Ssend, section 3.4.
func Ssend[T Elem](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callSsend, m, e, dest, tag)
}

// Bsend is Send that never waits for the receiver: the message is copied into
// the attached buffer (BufferAttach). ErrBuffer if it does not fit.
//
// C: MPI_Bsend, section 3.4.
func Bsend[T Elem](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callBsend, m, e, dest, tag)
}

// Rsend is Send whose caller knows that the matching receive is posted.
//
// C: MPI_Rsend, section 3.4.
func Rsend[T Elem](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(callRsend, m, e, dest, tag)
}

// Isend starts sending buf to rank dest of c. buf must not be written until the
// request is complete. A wrong argument shows when the request is waited for.
//
// C: MPI_Isend, section 3.7.2.
func Isend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIsend, m, e, dest, tag)
}

// Issend is Isend whose request completes only when a matching receive has started.
//
// C: MPI_Issend, section 3.7.2.
func Issend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIssend, m, e, dest, tag)
}

// Ibsend is Isend in buffered mode.
//
// C: MPI_Ibsend, section 3.7.2.
func Ibsend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIbsend, m, e, dest, tag)
}

// Irsend is Isend whose caller knows that the matching receive is posted.
//
// C: MPI_Irsend, section 3.7.2.
func Irsend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIrsend, m, e, dest, tag)
}
