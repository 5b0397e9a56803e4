package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// bufferAutomatic is MPI_BUFFER_AUTOMATIC.
const bufferAutomatic uintptr = 2

// hearer is an object with an error handler.
type hearer interface{ CallErrhandler(err error) error }

// lend attaches a buffer by calling do with its memory, or with nil for
// MPI_BUFFER_AUTOMATIC.
func (l *Lib) lend(of hearer, by call.Number, address uintptr, size int, do func([]byte) error) error {
	switch p := pointer(address); {
	case address == bufferAutomatic:
		return do(nil)
	case size < 0:
		return of.CallErrhandler(newError(mpi.ErrArg, by, "buffer of %d bytes", size))
	case p == nil && size == 0:
		return do([]byte{})
	case p == nil:
		return of.CallErrhandler(newError(mpi.ErrBuffer, by, "buffer of %d bytes at %#x", size, address))
	default:
		return do(unsafe.Slice((*byte)(p), size))
	}
}

// takeBack detaches a buffer by calling do, and stores its address and size in the arguments
// i and i+1.
func (l *Lib) takeBack(a args, i int, by call.Number, do func() ([]byte, error)) error {
	for k, name := range []string{"buffer_addr", "size"} {
		if err := l.need(by, a, name, i+k); err != nil {
			return err
		}
	}
	b, err := do()
	if err != nil {
		return err
	}
	address := bufferAutomatic
	if b != nil {
		address = uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	}
	a.setWord(i, address)
	a.setCount(i+1, int64(len(b)))
	return nil
}

// attachProcess, detachProcess, flushProcess and iflushProcess are MPI_Buffer_attach and so
// on.
func (l *Lib) attachProcess(address uintptr, size int) error {
	c := l.base()
	return l.lend(c, call.BufferAttach, address, size, func(b []byte) error { return mpi.BufferAttach(c, b) })
}

func (l *Lib) detachProcess(a args) error {
	return l.takeBack(a, 0, call.BufferDetach, func() ([]byte, error) { return mpi.BufferDetach(l.base()) })
}

func (l *Lib) flushProcess() error { return mpi.BufferFlush(l.base()) }

func (l *Lib) iflushProcess() mpi.Request { return mpi.IbufferFlush(l.base()) }

// attachComm and detachComm are MPI_Comm_attach_buffer and MPI_Comm_detach_buffer.
func (l *Lib) attachComm(c *mpi.Comm, address uintptr, size int) error {
	return l.lend(c, call.CommAttachBuffer, address, size, c.AttachBuffer)
}

func (l *Lib) detachComm(a args) error {
	c, err := l.comm(a.word(0), call.CommDetachBuffer)
	if err != nil {
		return err
	}
	return l.takeBack(a, 1, call.CommDetachBuffer, c.DetachBuffer)
}
