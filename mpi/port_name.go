package mpi

import (
	"context"
	"strconv"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/sys"
)

// Publish publishes the port under the name of a service, for processes of the same user on this host,
// until Unpublish or the end of the process. ErrService if a process has published the name already. It
// is local.
//
// C: MPI_Publish_name, section 11.9.4.
func (p *Port) Publish(service string) error {
	if p == nil {
		return fail(ErrPort, call.PublishName, nil, "port is nil")
	}
	return wrap(p.c.w.Meet.Publish(service, p.name), call.PublishName, p.c, Undefined, Undefined)
}

// Unpublish withdraws the name of a service. ErrService if this process has not published it for the
// port. It is local.
//
// C: MPI_Unpublish_name, section 11.9.4.
func (p *Port) Unpublish(service string) error {
	if p == nil {
		return fail(ErrPort, call.UnpublishName, nil, "port is nil")
	}
	return wrap(p.c.w.Meet.Unpublish(service, p.name), call.UnpublishName, p.c, Undefined, Undefined)
}

// LookupName returns the name of the port that a process of the same user on this host has published
// under the name of a service. c is any communicator of the process. ErrName if there is none. It is
// local.
//
// C: MPI_Lookup_name, section 11.9.4.
func LookupName(c *Comm, service string) (port string, err error) {
	if err := c.usable(call.LookupName); err != nil {
		return "", err
	}
	port, err = c.w.Meet.Lookup(service)
	return port, wrap(err, call.LookupName, c, Undefined, Undefined)
}

// Join connects the process with the one at the other end of a stream socket, such as a *net.TCPConn or a
// *net.UnixConn, which makes the same call; c is any communicator of the process. It returns an
// intercommunicator between the two, with the error handler of c. Both read exactly what the other one
// writes, so the socket can be used before and after. What passes through it contains a secret.
//
// ErrArg if conn is no socket, ErrOther if the other end closes it or is no process that joins, ErrPort
// when ctx ends before it has joined.
//
// C: MPI_Comm_join, section 11.10.5.
func Join(ctx context.Context, c *Comm, conn syscall.Conn) (*Comm, error) {
	if err := c.usable(call.CommJoin); err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fail(ErrArg, call.CommJoin, c, "the socket: %v", err)
	}
	return c.join(ctx, func(ctx context.Context, out, in []byte) (err error) {
		if e := raw.Control(func(fd uintptr) { err = sys.SwapBytes(ctx, int(fd), out, in) }); e != nil {
			return e
		}
		return err
	})
}

// JoinFD is Join with a descriptor.
//
// C: MPI_Comm_join, section 11.10.5.
func (internals) JoinFD(c *Comm, fd int) (*Comm, error) {
	if err := c.usable(call.CommJoin); err != nil {
		return nil, err
	}
	return c.join(context.Background(), func(ctx context.Context, out, in []byte) error {
		return sys.SwapBytes(ctx, fd, out, in)
	})
}

func (c *Comm) join(ctx context.Context, swap func(ctx context.Context, out, in []byte) error) (*Comm, error) {
	w := c.w
	w.Proc.Lock()
	_, own := w.Proc.NewContext(proc.InSession(c.core.Ctx))
	alone := comm.New(w.Proc, own, 0, []int32{int32(w.Proc.Job().Rank)})
	err := w.Coll.Attach(alone, coll.NoSlot)
	w.Proc.Unlock()
	if err != nil {
		return nil, wrap(err, call.CommJoin, c, Undefined, Undefined)
	}
	defer w.Coll.Free(alone)
	core, err := w.Meet.Join(ctx, alone, func(ctx context.Context, out, in []byte) error {
		err := swap(ctx, out, in)
		if sys.NoSocket(err) {
			return class.Errorf(class.Arg, "the descriptor is no stream socket: %v", err)
		}
		return err
	})
	return c.created(call.CommJoin, core, err)
}

// OfNone is called with the communicator of the process alone. It returns the one whose handler gets errors of calls
// without an object: see ofNone.
func (internals) OfNone(c *Comm) *Comm { return c.ofNone() }

// ClosePort is MPI_Close_port: it names the port.
//
// C: MPI_Close_port, section 11.9.2.
func (internals) ClosePort(c *Comm, name string) error {
	return (&Port{c.ofNone(), name}).Close()
}

// AcceptAt is MPI_Comm_accept: it names the port, and has a limit of time in the Info of the root.
//
// C: MPI_Comm_accept, section 11.9.2.
func (internals) AcceptAt(name string, info *Info, c *Comm, root int) (*Comm, error) {
	return meetsWithin(name, info, c, root, call.CommAccept, call.CommAccept)
}

// connectTimeout is the limit of time of MPI_Comm_connect in seconds, if the Info has none. The standard says that
// a connect that nobody accepts ends at some time.
const connectTimeout = 120.0

// ConnectTo is MPI_Comm_connect, like AcceptAt.
//
// C: MPI_Comm_connect, section 11.9.3.
func (internals) ConnectTo(name string, info *Info, c *Comm, root int) (*Comm, error) {
	return meetsWithin(name, info, c, root, call.CommConnect, call.CommConnect)
}

func meetsWithin(name string, info *Info, c *Comm, root int, k call.Number, inColl call.Number) (*Comm, error) {
	ctx := context.Background()
	if c != nil && c.Rank() == root {
		s, limited := connectTimeout, k == call.CommConnect
		if v, ok := info.Get(keyTimeout); ok {
			var err error
			s, err = strconv.ParseFloat(v, 64)
			limited = true
			if err != nil || s < 0 || s > maxTimeout {
				if e := c.usable(k); e != nil {
					return nil, e
				}
				defer c.core.Begin(k)()
				err := c.w.Meet.Refuse(c.core, root, inColl, class.Errorf(class.Arg, "%s: %q is no number of seconds", keyTimeout, v))
				return c.created(k, (*comm.Comm)(nil), err)
			}
		}
		if limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(s*float64(time.Second)))
			defer cancel()
		}
	}
	return meets(ctx, name, c, root, k)
}

// keyTimeout is the key of an Info for the limit of time in seconds, and maxTimeout the longest: a century.
const (
	keyTimeout = "timeout"
	maxTimeout = 3e9
)

// PublishName is MPI_Publish_name: it names the port.
//
// C: MPI_Publish_name, section 11.9.4.
func (internals) PublishName(c *Comm, service, name string) error {
	return (&Port{c.ofNone(), name}).Publish(service)
}

// UnpublishName is MPI_Unpublish_name: it names the port.
//
// C: MPI_Unpublish_name, section 11.9.4.
func (internals) UnpublishName(c *Comm, service, name string) error {
	return (&Port{c.ofNone(), name}).Unpublish(service)
}
