package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// addMessage returns the handle of a message that a matched probe has found, with status st.
func (l *Lib) addMessage(m mpi.Message, st *mpi.Status) handle {
	if st.Source == mpi.ProcNull {
		return messageNoProc
	}
	return l.messages.add(m)
}

// iprobe is MPI_Iprobe.
func (l *Lib) iprobe(a args) error {
	c, err := l.comm(a.word(2), call.Iprobe)
	if err == nil {
		err = l.need(call.Iprobe, a, "flag", 3)
	}
	if err != nil {
		return err
	}
	st, found, err := c.Iprobe(a.int(0), a.int(1))
	a.setBool(3, found)
	if found {
		a.setStatus(4, st)
	}
	return err
}

// mprobe is MPI_Mprobe.
func (l *Lib) mprobe(a args) error {
	c, err := l.comm(a.word(2), call.Mprobe)
	if err == nil {
		err = l.need(call.Mprobe, a, "message", 3)
	}
	if err != nil {
		return err
	}
	m, st, err := c.Mprobe(a.int(0), a.int(1))
	if err != nil {
		return err
	}
	a.setWord(3, l.addMessage(m, &st))
	a.setStatus(4, st)
	return nil
}

// improbe is MPI_Improbe.
func (l *Lib) improbe(a args) error {
	const by = call.Improbe
	c, err := l.comm(a.word(2), by)
	if err == nil {
		err = l.need(by, a, "flag", 3)
	}
	if err == nil {
		err = l.need(by, a, "message", 4)
	}
	if err != nil {
		return err
	}
	m, st, found, err := c.Improbe(a.int(0), a.int(1))
	a.setBool(3, found)
	if found {
		a.setWord(4, l.addMessage(m, &st))
		a.setStatus(5, st)
	} else {
		a.setWord(4, messageNull)
	}
	return err
}

// message returns the message that argument i points to, for a call that receives it, and ends
// its handle.
func (l *Lib) message(a args, i int, by call.Number) (m mpi.Message, err error) {
	at := (*handle)(a.result(i))
	if at == nil {
		return m, l.fail(mpi.ErrArg, by, "message is %#x, which is no address", a.word(i))
	}
	if *at == messageNoProc {
		*at = messageNull
		m, _, err = l.base().Mprobe(mpi.ProcNull, mpi.AnyTag)
		return m, err
	}
	m, ok := l.messages.get(*at)
	if !ok {
		return m, l.fail(mpi.ErrRequest, by, "%#x is no message: it was received, or never was one", *at)
	}
	l.messages.remove(*at)
	*at = messageNull
	return m, nil
}

// mrecv is MPI_Mrecv.
func (l *Lib) mrecv(a args) error {
	m, err := l.message(a, 3, call.Mrecv)
	if err != nil {
		return err
	}
	st, err := m.Recv(l.buf(a.word(0), a.int(1), l.datatype(a.word(2))))
	a.setStatus(4, st)
	return err
}

// imrecv is MPI_Imrecv.
func (l *Lib) imrecv(a args) error {
	if err := l.need(call.Imrecv, a, "request", 4); err != nil {
		return err
	}
	m, err := l.message(a, 3, call.Imrecv)
	if err != nil {
		return err
	}
	return l.setRequest(a, 4, m.Irecv(l.buf(a.word(0), a.int(1), l.datatype(a.word(2)))))
}
