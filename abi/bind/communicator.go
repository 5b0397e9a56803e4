package bind

import "github.com/halo-mpi/halo/mpi"

// free ends the object of a handle that an argument points to, and makes that null.
func free[T any](l *Lib, a args, call string, null handle, find func(handle, string) (T, error), end func(T) error, drop func(handle) bool) error {
	if err := l.need(call, a, "the handle", 0); err != nil {
		return err
	}
	o, err := find(*(*handle)(a.result(0)), call)
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
func (l *Lib) freeComm(a args, call string, end func(*mpi.Comm) error) error {
	return free(l, a, call, commNull, l.comm, end, l.comms.drop)
}

// isInter is MPI_Comm_test_inter: there are no intercommunicators yet.
func isInter(*mpi.Comm) bool { return false }

// remoteSize and remoteGroup are of intercommunicators, which c is not.
func (l *Lib) remoteSize(c *mpi.Comm) (int, error) {
	return 0, l.failOn(c, mpi.ErrComm, "MPI_Comm_remote_size", "%s is no intercommunicator", c.Name())
}

func (l *Lib) remoteGroup(c *mpi.Comm) (mpi.Group, error) {
	return mpi.Group{}, l.failOn(c, mpi.ErrComm, "MPI_Comm_remote_group", "%s is no intercommunicator", c.Name())
}

// noParent is MPI_Comm_get_parent: processes are not spawned yet.
func noParent() *mpi.Comm { return nil }

// commName is MPI_Comm_get_name, which takes the null handle, too.
func (l *Lib) commName(a args) error {
	const call = "MPI_Comm_get_name"
	name := "MPI_COMM_NULL"
	if h := a.word(0); h != commNull {
		c, err := l.comm(h, call)
		if err != nil {
			return err
		}
		name = c.Name()
	}
	return l.setName(a, call, name)
}

// setName stores the name of an object in the arguments 1 and 2.
func (l *Lib) setName(a args, call, name string) error {
	if err := l.need(call, a, "the name", 1); err != nil {
		return err
	}
	if err := l.need(call, a, "resultlen", 2); err != nil {
		return err
	}
	a.setInt(2, setText(a.word(1), maxName, name))
	return nil
}
