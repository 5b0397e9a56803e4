package mpi

import (
	"maps"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
)

// Raise calls a handler with an error of a call that was to make a communicator with it.
//
// C: MPI_Comm_create_from_group, section 7.4.2.
func (internals) Raise(h Errhandler, e *Error) error {
	if h.fits(call.CommCreateFromGroup, aCommunicator) != nil {
		return e.raised()
	}
	return h.raise(nil, e)
}

// LiveObjects returns what Finalize of the session would end.
//
// C: MPI_Session_finalize, section 11.3.1.
func (internals) LiveObjects(s *Session) (comms []*Comm, windows []*Window) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.comms)), slices.Collect(maps.Keys(s.windows))
}

// InSession reports whether a communicator belongs to a session.
//
// C: none; the predefined attributes of a communicator depend on it, section 9.1.2.
func (internals) InSession(c *Comm) bool { return c.self.session != nil }

// CreateSessionErrhandler makes an error handler for sessions. fn gets the session, nil for errors
// of OpenSession, and the error that the call will return. A nil fn gives the null handler.
//
// C: MPI_Session_create_errhandler, section 9.3.4.
func CreateSessionErrhandler(fn func(s *Session, err *Error)) Errhandler {
	if fn == nil {
		return Errhandler{}
	}
	return Errhandler{&errhandler{"user-defined", func(c *Comm, err *Error) {
		var s *Session
		if c != nil {
			s = c.self.session
		}
		fn(s, err)
	}, aSession}}
}

// SetErrhandler sets the error handler of the session. ErrErrhandler if h is null, or was made for
// other objects.
//
// C: MPI_Session_set_errhandler, section 9.3.4.
func (s *Session) SetErrhandler(h Errhandler) error {
	if err := s.usable(call.SessionSetErrhandler); err != nil {
		return err
	}
	return s.self.setErrhandler(call.SessionSetErrhandler, h, aSession)
}

// Errhandler is the session's error handler.
//
// C: MPI_Session_get_errhandler, section 9.3.4.
func (s *Session) Errhandler() (Errhandler, error) {
	if err := s.usable(call.SessionGetErrhandler); err != nil {
		return Errhandler{}, err
	}
	return Errhandler{s.self.handler.Load()}, nil
}

// CallErrhandler calls the session's error handler with err and returns err as an *Error about s:
// see Comm.CallErrhandler.
//
// C: MPI_Session_call_errhandler, section 9.5.
func (s *Session) CallErrhandler(err error) error {
	if e := s.usable(call.SessionCallErrhandler); e != nil {
		return e
	}
	return s.self.callErrhandler(call.SessionCallErrhandler, err)
}

// AttachBuffer gives the session a buffer for messages in buffered mode on its communicators, of
// len(buf) bytes, or of unlimited size if buf is nil (MPI_BUFFER_AUTOMATIC). A buffer of the
// communicator takes precedence, and it takes precedence over that of the process. Finalize
// detaches it, after the messages in it have been sent.
//
// C: MPI_Session_attach_buffer, section 3.6.
func (s *Session) AttachBuffer(buf []byte) error {
	if err := s.usable(call.SessionAttachBuffer); err != nil {
		return err
	}
	return wrap(s.self.w.P2P.Attach(s.self.core.Session, buf), call.SessionAttachBuffer, s.self, Undefined, Undefined)
}

// DetachBuffer waits until all messages in the session's buffer are sent, and then detaches and
// returns the buffer.
//
// C: MPI_Session_detach_buffer, section 3.6.
func (s *Session) DetachBuffer() ([]byte, error) {
	if err := s.usable(call.SessionDetachBuffer); err != nil {
		return nil, err
	}
	buf, err := s.self.w.P2P.Detach(s.self.core.Session)
	return buf, wrap(err, call.SessionDetachBuffer, s.self, Undefined, Undefined)
}

// FlushBuffer waits until all messages in the session's buffer are sent.
//
// C: MPI_Session_flush_buffer, section 3.6.
func (s *Session) FlushBuffer() error {
	r := s.flush(call.SessionFlushBuffer)
	_, err := r.Wait()
	return err
}

// IflushBuffer starts a FlushBuffer.
//
// C: MPI_Session_iflush_buffer, section 3.6.
func (s *Session) IflushBuffer() Request { return s.flush(call.SessionIflushBuffer) }

func (s *Session) flush(k call.Number) Request {
	if err := s.usable(k); err != nil {
		return Request{err: err}
	}
	e := s.self.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	return watched(newRequest(k, s.self, e.Flush(s.self.core, s.self.core.Session)))
}
