package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// free frees the object of the handle that argument 0 points to, and sets the handle to
// null.
func free[T any](l *Lib, a args, by call.Number, null handle, find func(handle, call.Number) (T, error), end func(T) error, drop func(handle) bool) error {
	if err := l.need(by, a, "the handle", 0); err != nil {
		return err
	}
	o, err := find(*(*handle)(a.result(0)), by)
	if err != nil {
		return err
	}
	if err := end(o); err != nil {
		return err
	}
	a.finish(0, null, drop)
	return nil
}

// freeComm is MPI_Comm_free and MPI_Comm_disconnect.
func (l *Lib) freeComm(a args, by call.Number, end func(*mpi.Comm) error) error {
	return free(l, a, by, commNull, l.comm, end, l.comms.drop)
}

// remoteSize is MPI_Comm_remote_size.
func (l *Lib) remoteSize(c *mpi.Comm) (int, error) {
	if !c.Inter() {
		return 0, l.failOn(c, mpi.ErrComm, call.CommRemoteSize, "%s is no intercommunicator", c.Name())
	}
	return c.RemoteSize(), nil
}

// intercommCreate is MPI_Intercomm_create. peer_comm is significant at the leaders only, so
// an invalid handle becomes nil here, and package mpi raises the error at a leader.
func (l *Lib) intercommCreate(a args) error {
	if err := l.need(call.IntercommCreate, a, "newintercomm", 5); err != nil {
		return err
	}
	local, err := l.comm(a.word(0), call.IntercommCreate)
	if err != nil {
		return err
	}
	c, err := mpi.IntercommCreate(local, a.int(1), l.commOf(a.word(2)), a.int(3), a.int(4))
	if err != nil {
		a.setWord(5, commNull)
		return err
	}
	a.setWord(5, l.addComm(c))
	return nil
}

// commName is MPI_Comm_get_name, which also accepts the null handle.
func (l *Lib) commName(a args) error {
	name := "MPI_COMM_NULL"
	if h := a.word(0); h != commNull {
		c, err := l.comm(h, call.CommGetName)
		if err != nil {
			return err
		}
		name = c.Name()
	}
	return l.setName(a, call.CommGetName, name)
}

// setName stores the name of an object in the arguments 1 and 2.
func (l *Lib) setName(a args, by call.Number, name string) error {
	if err := l.need(by, a, "the name", 1); err != nil {
		return err
	}
	if err := l.need(by, a, "resultlen", 2); err != nil {
		return err
	}
	a.setInt(2, setText(a.word(1), maxName, name))
	return nil
}

// commOf returns the communicator of a handle, nil if the handle is invalid.
func (l *Lib) commOf(h handle) *mpi.Comm {
	switch world := l.world.Load(); {
	case world == nil:
	case h == commWorld:
		return world
	case h == commSelf:
		return world.Self()
	}
	c, _ := l.comms.get(h)
	return c
}
