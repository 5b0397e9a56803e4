package rma

import "github.com/halo-mpi/halo/internal/p2p"

// submit makes an operation of a and gives it to next: postpone or dispatch. It takes the lock.
func (e *Engine) submit(v *View, t *target, a *Op, off uint64, next func(*Engine, *operation)) (*p2p.Request, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if cause := e.p.DownCause(int(t.process)); cause != nil {
		return nil, gone(t.rank, cause)
	}
	o := e.newOperation(v, t.channel(v), a, off)
	if o.Done != None {
		o.request = e.messages.NewRequest(v.w.Comm, o.Call)
	}
	r := o.request
	next(e, o)
	return r, nil
}

// transmit has the target's service make an access. It takes the lock.
func (e *Engine) transmit(v *View, t *target, a *Op, off uint64) (*p2p.Request, error) {
	if a.Done == None && a.brief() && e.holdAtOnce(v, t, a, off) {
		return nil, nil
	}
	return e.submit(v, t, a, off, (*Engine).dispatch)
}

// dispatch is transmit of what an operation stands for. The lock is held.
func (e *Engine) dispatch(o *operation) {
	o.target.rec.Framed.Store(true)
	e.remote(o)
}

// done returns the request of an operation that is complete, nil if it has none.
func (v *View) done(a *Op) *p2p.Request {
	if a.Done == None {
		return nil
	}
	return v.completed(a.Call)
}

// completed returns a request that is complete.
func (v *View) completed(call string) *p2p.Request {
	e := v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	r := e.messages.NewRequest(v.w.Comm, call)
	e.messages.Finish(r, nil)
	return r
}

// nothing is an operation to ProcNull.
func (v *View) nothing(a *Op) (*p2p.Request, error) {
	w := v.w
	if err := w.live(); err != nil {
		return nil, err
	}
	if a.Done != None || v.handle != nil {
		if err := w.passiveAll(); err != nil {
			return nil, err
		}
	} else if w.rec.Mode.Load()&gateOpen == 0 {
		if _, err := w.admit(nil); err != nil {
			return nil, err
		}
	}
	return v.done(a), nil
}
