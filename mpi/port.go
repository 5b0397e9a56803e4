package mpi

import (
	"context"
	"strconv"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/meet"
)

// Port is an address at which groups of processes of other jobs can connect. Its name is a
// capability: whoever has it can connect, and nobody else. It contains a secret, so it is passed on
// as a password is.
//
// C: MPI_Open_port, section 11.9.2.
type Port struct {
	c    *Comm // self
	name string
}

// PortHint is a hint for OpenPort: PortAddress, PortNumber, or an *Info with their keys.
//
// C: MPI_Info, section 11.9.5.
type PortHint interface{ portHint(o *meet.Options) error }

// PortAddress is an IP address of this host, at which the port listens. Without it a port of a job of
// one host listens on the loopback address, and that of a job of several hosts where the processes
// reach each other.
//
// C: info key ip_address, section 11.9.5.
type PortAddress string

// PortNumber is the number of the TCP port at which the port listens. Without it the kernel chooses.
//
// C: info key ip_port, section 11.9.5.
type PortNumber int

// The keys of an Info for OpenPort.
const (
	keyIPAddress = "ip_address"
	keyIPPort    = "ip_port"
)

func (v PortAddress) portHint(o *meet.Options) error {
	o.Address = string(v)
	return nil
}

func (v PortNumber) portHint(o *meet.Options) error {
	o.Port = int(v)
	return nil
}

func (i *Info) portHint(o *meet.Options) error {
	if v, ok := i.Get(keyIPAddress); ok {
		o.Address = v
	}
	if v, ok := i.Get(keyIPPort); ok {
		n, err := strconv.Atoi(v)
		if err != nil {
			return class.Errorf(class.Arg, "%s: %q is no number", keyIPPort, v)
		}
		o.Port = n
	}
	return nil
}

// OpenPort opens a port of the process. c is any communicator of it. ErrArg if a hint is no address or
// number, ErrPort if the process cannot listen there. It is local.
//
// C: MPI_Open_port, section 11.9.2.
func OpenPort(c *Comm, hints ...PortHint) (*Port, error) {
	const k = call.OpenPort
	if err := c.usable(k); err != nil {
		return nil, err
	}
	var o meet.Options
	for _, h := range hints {
		if h != nil {
			if err := h.portHint(&o); err != nil {
				return nil, wrap(err, k, c, Undefined, Undefined)
			}
		}
	}
	name, err := c.w.Meet.Open(o)
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	return &Port{c, name}, nil
}

// Name is the text by which other jobs connect: less than 256 printable characters. It contains the
// secret of the port.
//
// C: MPI_Open_port, section 11.9.2.
func (p *Port) Name() string {
	if p == nil {
		return ""
	}
	return p.name
}

// Close closes the port. Groups that wait to be accepted get ErrPort, and so do later ones. Those that
// are connected stay so. ErrPort if it has been closed. It is local.
//
// C: MPI_Close_port, section 11.9.2.
func (p *Port) Close() error {
	if p == nil {
		return fail(ErrPort, call.ClosePort, nil, "port is nil")
	}
	return wrap(p.c.w.Meet.ClosePort(p.name), call.ClosePort, p.c, Undefined, Undefined)
}

// Accept waits at the port for a group of processes that connects, and returns the intercommunicator
// with it. Only the root of c uses p and ctx: the port is its own; the others may pass nil.
//
// When ctx ends before a group has connected, all members get ErrPort, which wraps the cause of ctx. A
// group that dies while it waits is passed over. ErrComm if a process of the other group is in this one.
// Any number of goroutines may accept at a port, each with a communicator of its own. The new communicator has
// the error handler of c. Collective over c.
//
// C: MPI_Comm_accept, section 11.9.2.
func (p *Port) Accept(ctx context.Context, c *Comm, root int) (*Comm, error) {
	return meets(ctx, p.Name(), c, root, call.CommAccept)
}

// Connect connects to the group that accepts at the port of that name, and returns the
// intercommunicator with it. Only the root of c uses ctx and port. It waits until the other group
// accepts.
//
// ErrPort, at all members, if nobody serves the port, or the port is closed or its process ends before
// it accepts, if the name is none of a port, or when ctx ends: then the error wraps the cause of ctx.
// The new communicator has the error handler of c. Collective over c.
//
// C: MPI_Comm_connect, section 11.9.3.
func Connect(ctx context.Context, port string, c *Comm, root int) (*Comm, error) {
	return meets(ctx, port, c, root, call.CommConnect)
}

// meets is Accept and Connect.
func meets(ctx context.Context, port string, c *Comm, root int, k call.Number) (*Comm, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	if err := c.intra(k); err != nil {
		return nil, err
	}
	if root < 0 || root >= c.Size() {
		return nil, fail(ErrRoot, k, c, "root %d in a communicator of %d", root, c.Size())
	}
	meet := c.w.Meet.Connect
	if k == call.CommAccept {
		meet = c.w.Meet.Accept
	}
	defer c.core.Begin(k)()
	core, err := meet(ctx, port, c.core, root)
	return c.created(k, core, err)
}
