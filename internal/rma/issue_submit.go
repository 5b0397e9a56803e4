package rma

import "github.com/halo-mpi/halo/internal/p2p"

// submit makes an operation of an access and gives it to next: postpone or dispatch. With
// what, the name of the call, a request stands for it. It takes the lock.
func (e *Engine) submit(v *View, t *target, a *access, off uint64, what string, next func(*Engine, *operation)) (*p2p.Request, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if cause := e.p.DownCause(int(t.process)); cause != nil {
		return nil, gone(t.rank, cause)
	}
	o := e.newOperation(v, t.channel(v), a, off)
	if what != "" {
		o.request = e.messages.NewRequest(v.w.Comm, what)
	}
	r := o.request
	next(e, o)
	return r, nil
}

// transmit has the target's service make an access. It takes the lock.
func (e *Engine) transmit(v *View, t *target, a *access, off uint64, what string) (*p2p.Request, error) {
	if what == "" && a.brief() && e.holdAtOnce(v, t, a, off) {
		return nil, nil
	}
	return e.submit(v, t, a, off, what, (*Engine).dispatch)
}

// dispatch is transmit of what an operation stands for. The lock is held.
func (e *Engine) dispatch(o *operation) {
	o.target.framed.Store(true)
	e.remote(o)
}

// done returns the request of what is done, nil if none was asked for.
func (v *View) done(what string) *p2p.Request {
	if what == "" {
		return nil
	}
	e := v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	r := e.messages.NewRequest(v.w.Comm, what)
	e.messages.Finish(r, nil)
	return r
}

// nothing is an operation to ProcNull.
func (v *View) nothing(what string) (*p2p.Request, error) {
	w := v.w
	if err := w.live(); err != nil {
		return nil, err
	}
	if what != "" || v.handle != nil {
		if err := w.passiveAll(); err != nil {
			return nil, err
		}
	} else if w.mode.Load()&gateOpen == 0 {
		if _, err := w.admit(nil); err != nil {
			return nil, err
		}
	}
	return v.done(what), nil
}
