package bind

import (
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// tools is the tool information interface of chapter 15. Halo has no variables, events or
// categories: only sessions, which are empty. The calls return their errors and call no error
// handler.
type tools struct {
	mu       sync.Mutex
	users    int // calls of MPI_T_init_thread minus those of MPI_T_finalize
	sessions table[struct{}]
}

// The error codes of the interface.
const (
	toolNotInitialized = mpi.Class(1003) // MPI_T_ERR_NOT_INITIALIZED
	toolInvalid        = mpi.Class(1006) // MPI_T_ERR_INVALID
	toolInvalidIndex   = mpi.Class(1007) // MPI_T_ERR_INVALID_INDEX
	toolInvalidSession = mpi.Class(1009) // MPI_T_ERR_INVALID_SESSION
	toolInvalidHandle  = mpi.Class(1010) // MPI_T_ERR_INVALID_HANDLE
	toolInvalidName    = mpi.Class(1011) // MPI_T_ERR_INVALID_NAME
)

// begin is MPI_T_init_thread.
func (t *tools) begin(a args) error {
	if a.result(1) == nil {
		return toolInvalid
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	a.setInt(1, int(mpi.ThreadMultiple))
	return nil
}

// end is MPI_T_finalize.
func (t *tools) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users == 0 {
		return toolNotInitialized
	}
	t.users--
	return nil
}

// ready returns an error unless the interface is initialised.
func (t *tools) ready() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users == 0 {
		return toolNotInitialized
	}
	return nil
}

// number implements calls that return a number of variables, events or categories: it is 0.
func (t *tools) number(a args) error {
	if err := t.ready(); err != nil {
		return err
	}
	if a.result(0) == nil {
		return toolInvalid
	}
	a.setInt(0, 0)
	return nil
}

// none implements calls on a variable, event or category that cannot exist: it returns why.
func (t *tools) none(why mpi.Class) error {
	if err := t.ready(); err != nil {
		return err
	}
	return why
}

// session is MPI_T_pvar_session_create.
func (t *tools) session(a args) error {
	if err := t.ready(); err != nil {
		return err
	}
	if a.result(0) == nil {
		return toolInvalid
	}
	a.setWord(0, t.sessions.add(struct{}{}))
	return nil
}

// endSession is MPI_T_pvar_session_free.
func (t *tools) endSession(a args) error {
	if err := t.ready(); err != nil {
		return err
	}
	if a.result(0) == nil {
		return toolInvalid
	}
	at := (*handle)(a.result(0))
	if !t.sessions.remove(*at) {
		return toolInvalidSession
	}
	*at = 0
	return nil
}

// allHandles is MPI_T_PVAR_ALL_HANDLES.
const allHandles = 1

// variable implements calls on a variable handle of a session, of which there are none. A call
// that accepts MPI_T_PVAR_ALL_HANDLES succeeds for it without effect.
func (t *tools) variable(session, variable handle, all bool) error {
	switch err := t.ready(); {
	case err != nil:
		return err
	case t.sessions.at(session) == nil:
		return toolInvalidSession
	case all && variable == allHandles:
		return nil
	}
	return toolInvalidHandle
}

// allocate is MPI_T_pvar_handle_alloc.
func (t *tools) allocate(session handle) error {
	switch err := t.ready(); {
	case err != nil:
		return err
	case t.sessions.at(session) == nil:
		return toolInvalidSession
	}
	return toolInvalidIndex
}
