package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Rflush is Flush with a request, which is complete when all operations to a target that were
// issued before it, and are in the scope of the view, are complete there (MPIX_RFLUSH). Operations
// that are issued after it do not delay it.
//
// Where the caller applies all operations it costs a fence and the request, else what Flush costs.
func (v *View) Rflush(target int) (*p2p.Request, error) {
	if err := v.handle.takes(target); err != nil {
		return nil, err
	}
	t, err := v.w.passive(target, call.Rflush)
	if err != nil {
		return nil, err
	}
	fence()
	if t == nil || t.settled() {
		return v.completed(call.Rflush), nil
	}
	e := v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	f := e.link.NewFlushing(e.messages.NewRequest(v.w.Comm, call.Rflush))
	f.Cover(&t.Target, v.number)
	f.Covered()
	return f.Request, nil
}

// RflushAll is Rflush of all targets (MPIX_RFLUSH_ALL).
func (v *View) RflushAll() (*p2p.Request, error) {
	if v.handle != nil {
		return v.Rflush(v.handle.rank)
	}
	w, e := v.w, v.w.e
	if err := w.passiveAllNow(call.RflushAll); err != nil {
		return nil, err
	}
	fence()
	e.p.Lock()
	defer e.p.Unlock()
	f := e.link.NewFlushing(e.messages.NewRequest(w.Comm, call.RflushAll))
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && !t.settled() {
			f.Cover(&t.Target, v.number)
		}
	}
	f.Covered()
	return f.Request, nil
}
