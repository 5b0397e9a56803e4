package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// changeComm is MPIX_Win_change_comm. A process that joins the window passes MPI_WIN_NULL
// in win, a process that leaves it passes MPI_COMM_NULL.
func (l *Lib) changeComm(a args) error {
	const by = call.WinChangeComm
	if err := l.need(by, a, "win", 2); err != nil {
		return err
	}
	at := (*handle)(a.result(2))
	var c *mpi.Comm
	var w *mpi.Window
	var err error
	if h := a.word(0); h != commNull {
		c, err = l.comm(h, by)
		if err != nil {
			return err
		}
	}
	if *at != winNull {
		w, err = l.win(*at, by)
		if err != nil {
			return err
		}
	}
	n, err := mpi.WinChangeComm(w, c, a.int(1))
	switch {
	case n != nil:
		*at = l.addWin(n)
	case w != nil && err == nil:
		a.finish(2, winNull, l.dropWin)
	}
	return err
}

// changeCommMemory is MPIX_Win_change_comm_memory.
func (l *Lib) changeCommMemory(c *mpi.Comm, peer int, base uintptr, size int64, unit int) (*mpi.Window, error) {
	mem, ok := slice(base, size)
	if !ok {
		return nil, l.failOn(c, mpi.ErrSize, call.WinChangeCommMemory, "%d bytes at address %#x: the size is negative, or the address not valid", size, base)
	}
	return mpi.WinChangeCommMemory(c, peer, mem, unit)
}
