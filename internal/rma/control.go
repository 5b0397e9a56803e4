package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/wire"
)

// requestLock asks the target for its lock; the answer goes to Window.granted.
func (e *Engine) requestLock(t *target, exclusive bool) {
	e.hdr = wire.Header{Kind: wire.WinLock, Ctx: t.w.id}
	if exclusive {
		e.hdr.Flags = wire.Exclusive
	}
	e.p.Queue(int(t.Process), &e.hdr, nil, nil)
}

// sendGrant tells a process that it has the lock of this one in w; or with a class and a number why
// it has not.
func (e *Engine) sendGrant(w *Window, process int32, c class.Class, arg int64) {
	e.hdr = wire.Header{Kind: wire.WinGrant, Ctx: w.id, Aux: uint32(c), Arg: uint64(arg)}
	e.p.Queue(int(process), &e.hdr, nil, nil)
}

// sendPost tells a process that the own memory in w is exposed to it.
func (e *Engine) sendPost(w *Window, process int32) {
	e.hdr = wire.Header{Kind: wire.WinPost, Ctx: w.id}
	e.p.Queue(int(process), &e.hdr, nil, nil)
}
