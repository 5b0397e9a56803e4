package mpi

import "github.com/halo-mpi/halo/internal/call"

// Send sends buf to rank dest of c and returns when the program may reuse buf. The receiver
// buffers short messages, up to a limit; otherwise Send waits for a matching receive.
//
// As in every call that moves slices, buf must be plain data: numbers, or any type that TypeOf
// accepts, such as structs of numbers, whose gaps are not sent. ErrType for other types.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrProcFailed.
//
// C: MPI_Send, section 3.2.1.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(call.Send, m, e, dest, tag)
}

// Ssend is Send that returns only after a matching receive has started.
//
// C: MPI_Ssend, section 3.4.
func Ssend[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(call.Ssend, m, e, dest, tag)
}

// Bsend is Send that never waits for the receiver: it copies the message into the attached
// buffer (BufferAttach). ErrBuffer if the message does not fit.
//
// C: MPI_Bsend, section 3.4.
func Bsend[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(call.Bsend, m, e, dest, tag)
}

// Rsend is Send for callers that know that the matching receive is posted.
//
// C: MPI_Rsend, section 3.4.
func Rsend[T any](c *Comm, buf []T, dest, tag int) error {
	m, e := dataOf(c, buf)
	return c.send(call.Rsend, m, e, dest, tag)
}

// Isend starts to send buf to rank dest of c. The program must not write to buf until the
// request is complete. The error of an invalid argument is returned when the program waits for
// the request.
//
// C: MPI_Isend, section 3.7.2.
func Isend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.isend(m, e, dest, tag)
}

// Issend is Isend whose request completes only after a matching receive has started.
//
// C: MPI_Issend, section 3.7.2.
func Issend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.Issend, m, e, dest, tag)
}

// Ibsend is Isend in buffered mode.
//
// C: MPI_Ibsend, section 3.7.2.
func Ibsend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.Ibsend, m, e, dest, tag)
}

// Irsend is Isend for callers that know that the matching receive is posted.
//
// C: MPI_Irsend, section 3.7.2.
func Irsend[T any](c *Comm, buf []T, dest, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(call.Irsend, m, e, dest, tag)
}
