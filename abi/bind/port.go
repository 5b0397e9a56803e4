package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// maxPortName is MPI_MAX_PORT_NAME, which includes the terminating zero.
const maxPortName = 1024

// openPort is MPI_Open_port.
func (l *Lib) openPort(a args) error {
	info, err := l.info(a.word(0), call.OpenPort)
	if err != nil {
		return err
	}
	if err := l.need(call.OpenPort, a, "port_name", 1); err != nil {
		return err
	}
	var hints []mpi.PortHint
	if info != nil {
		hints = append(hints, info)
	}
	p, err := mpi.OpenPort(engine.OfNone(l.base()), hints...)
	if err != nil {
		return err
	}
	setText(a.word(1), maxPortName, p.Name())
	return nil
}

// lookupName is MPI_Lookup_name.
func (l *Lib) lookupName(a args) error {
	if _, err := l.info(a.word(1), call.LookupName); err != nil {
		return err
	}
	if err := l.need(call.LookupName, a, "port_name", 2); err != nil {
		return err
	}
	name, err := mpi.LookupName(engine.OfNone(l.base()), text(a.word(0)))
	if err != nil {
		return err
	}
	setText(a.word(2), maxPortName, name)
	return nil
}

// meets is MPI_Comm_accept and MPI_Comm_connect. The name of the port and the info are significant at the
// root only.
func (l *Lib) meets(a args, by call.Number, meet func(name string, info *mpi.Info, c *mpi.Comm, root int) (*mpi.Comm, error)) error {
	if err := l.need(by, a, "newcomm", 4); err != nil {
		return err
	}
	a.setWord(4, commNull)
	c, err := l.comm(a.word(3), by)
	if err != nil {
		return err
	}
	root := a.int(2)
	var name string
	var info *mpi.Info
	if c.Rank() == root {
		name = text(a.word(0))
		info, err = l.info(a.word(1), by)
		if err != nil {
			return err
		}
	}
	d, err := meet(name, info, c, root)
	if err != nil {
		return err
	}
	a.setWord(4, l.addComm(d))
	return nil
}
