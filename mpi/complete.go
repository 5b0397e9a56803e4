package mpi

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// several prepares a call that completes any of rs. It checks the requests and returns the
// engine's requests, with nil for null ones, and with the lock held. e is nil if there is
// nothing to wait for. The caller must give the slice inner back to e.
func several(by call.Number, rs []Request) (e *p2p.Engine, inner []*p2p.Request, err error) {
	e, err = together(by, rs)
	if e == nil {
		return nil, nil, err
	}
	inner = e.Scratch(len(rs))
	for i := range rs {
		inner[i] = rs[i].r
	}
	return e, inner, nil
}

// together checks the requests of a call that completes any of rs, and returns their engine, with
// the lock held. It is nil if there is nothing to wait for.
func together(by call.Number, rs []Request) (e *p2p.Engine, err error) {
	var c *Comm // of one of them
	for i := range rs {
		q := &rs[i]
		if q.r == nil {
			continue
		}
		if q.c != c {
			c = q.c
			switch {
			case e == nil:
				e = c.w.P2P
				e.Proc().Lock()
			case e != c.w.P2P:
				e.Proc().Unlock()
				return nil, fail(ErrRequest, by, nil, "request %d belongs to another process than request 0", i)
			}
		}
		if q.stale() {
			e.Proc().Unlock()
			return nil, fail(ErrRequest, by, q.c, "request %d of %v is stale: it was completed or freed through another copy", i, q.call())
		}
	}
	if e != nil && c.self.left != nil {
		if err := sameOrigin(by, rs); err != nil {
			e.Proc().Unlock()
			return nil, err.raised()
		}
	}
	return e, nil
}

// sameOrigin returns an error, which is not raised, if requests are of two sessions, or of a session and
// the world model. Generalized requests belong to none. Halo could complete them together, which is why
// only checking mode reports it; section 11.3 forbids it in every call.
func sameOrigin(by call.Number, rs []Request) *Error {
	first := -1
	for i := range rs {
		q := &rs[i]
		switch {
		case q.r == nil || q.call() == call.GrequestStart || q.c.self.always:
		case first < 0:
			first = i
		case q.c.self != rs[first].c.self:
			return newError(ErrSession, by, q.c, "request %d is of %s, and request %d of %s", first, rs[first].c.self.origin(), i, q.c.self.origin())
		}
	}
	return nil
}

// attendAll tells the engine that the program tests each of rs, before a call that stops at the first
// one that is not complete.
func attendAll(rs []Request) {
	for i := range rs {
		q := &rs[i]
		if q.r == nil || !attended(q.call()) {
			continue
		}
		e := q.c.w.P2P
		e.Proc().Lock()
		if !q.stale() {
			e.NotifyWait(q.r)
		}
		e.Proc().Unlock()
	}
}

// failures counts the failed operations of a call that completes several.
type failures struct {
	n     int
	first *Error
}

// note counts err, unless it is nil, and returns it as an error for a status.
func (f *failures) note(err *Error) error {
	if err == nil {
		return nil
	}
	f.n++
	if f.first == nil {
		f.first = err
	}
	return err
}

// inStatus is the error of a call that completed n requests of which some have failed. It calls
// the error handler with the first failure.
func (f *failures) inStatus(by call.Number, n int) error {
	f.first.raised()
	return &Error{Class: ErrInStatus, Call: by.Go(), by: by, Peer: Undefined, Tag: Undefined, cause: f.first, told: true,
		Detail: fmt.Sprintf("%d of %d operations failed, the first: %v", f.n, n, f.first)}
}

// statusesFit checks the length of an array of statuses, which may be nil.
func statusesFit(by call.Number, n int, sts []Status) error {
	if sts != nil && len(sts) < n {
		return fail(ErrArg, by, nil, "%d statuses for %d requests", len(sts), n)
	}
	return nil
}

// Waitall waits for all of rs. If sts is not nil, it gets the status of each request. If an
// operation failed, the error is ErrInStatus, and Status.Err has the error of each operation.
//
// C: MPI_Waitall, section 3.7.5.
func Waitall(rs []Request, sts []Status) error {
	if err := statusesFit(call.Waitall, len(rs), sts); err != nil {
		return err
	}
	e, err := together(call.Waitall, rs)
	if err != nil {
		return err
	}
	if e != nil && e.HasObservers() {
		for i := range rs {
			if r := rs[i].r; r != nil {
				e.NotifyWait(r)
			}
		}
	}
	var failed failures
	var unasked Status
	for i := range rs { // one lock for all: a batch of messages costs two operations on it
		q, st := &rs[i], &unasked
		if sts != nil {
			st = &sts[i]
		}
		err := q.err
		if r := q.r; r != nil {
			if !r.Done() && !q.stale() {
				e.Wait(r)
			}
			if sts == nil && !e.Guards() && !q.stale() && q.call().Is(call.Once) && r.Status.Err == nil { // take without the status
				e.Free(r)
				*q = Request{}
				continue
			}
			err = q.take(e, st)
		} else {
			*q, *st = Request{}, emptyStatus()
		}
		if err != nil {
			st.Err = failed.note(err)
		}
	}
	if e != nil {
		e.Proc().Unlock()
	}
	if failed.n > 0 {
		return failed.inStatus(call.Waitall, len(rs))
	}
	return nil
}

// Waitany waits for one of rs and returns its index and status. If all are null
// or inactive the index is Undefined.
//
// C: MPI_Waitany, section 3.7.5.
func Waitany(rs []Request) (int, Status, error) {
	i, st, _, err := anyOf(call.Waitany, rs, true)
	return i, st, err
}

// Testany is Waitany that does not wait; it returns false if none of rs is complete.
//
// C: MPI_Testany, section 3.7.5.
func Testany(rs []Request) (int, Status, bool, error) { return anyOf(call.Testany, rs, false) }

func anyOf(by call.Number, rs []Request, wait bool) (int, Status, bool, error) {
	for i := range rs {
		if err := rs[i].err; err != nil {
			rs[i] = Request{}
			return i, emptyStatus(), true, err
		}
	}
	e, inner, err := several(by, rs)
	if e == nil {
		return Undefined, emptyStatus(), true, err
	}
	active, done := e.Any(inner, wait)
	e.Return(inner)
	if done < 0 {
		e.Proc().Unlock()
		return Undefined, emptyStatus(), !active, nil
	}
	var st Status
	err = rs[done].end(e, &st)
	return done, st, true, err
}

// Waitsome waits until at least one of rs is complete, and completes all that can be. It returns
// their number, or Undefined if all of rs are null or inactive. It stores the indices and
// statuses of completed requests in indices and sts, from the first element on; sts may be nil.
// ErrArg if indices is shorter than rs.
//
// C: MPI_Waitsome, section 3.7.5.
func Waitsome(rs []Request, indices []int, sts []Status) (int, error) {
	return some(call.Waitsome, rs, indices, sts, true)
}

// Testsome is Waitsome that does not wait; it returns 0 if none of rs is complete.
//
// C: MPI_Testsome, section 3.7.5.
func Testsome(rs []Request, indices []int, sts []Status) (int, error) {
	return some(call.Testsome, rs, indices, sts, false)
}

// To look at many requests takes as long as to receive many messages. So Waitsome and Testsome first receive as many as there
// are requests, if they come so fast: for every emptyPollFor requests one poll may find nothing, and maxEmptyPolls
// in all, which is some microseconds. Polls of sockets count for more: see Proc.ProgressMany.
const (
	emptyPollFor  = 64
	maxEmptyPolls = 64
)

func some(by call.Number, rs []Request, indices []int, sts []Status, wait bool) (int, error) {
	if len(indices) < len(rs) {
		return 0, fail(ErrArg, by, nil, "%d indices for %d requests", len(indices), len(rs))
	}
	if err := statusesFit(by, len(rs), sts); err != nil {
		return 0, err
	}
	n := 0
	var failed failures
	note := func(i int, st Status, err *Error) {
		if err != nil {
			st.Err = failed.note(err)
		}
		indices[n] = i
		if sts != nil {
			sts[n] = st
		}
		n++
	}
	for i := range rs {
		if err := rs[i].err; err != nil {
			rs[i] = Request{}
			note(i, emptyStatus(), err)
		}
	}
	e, err := together(by, rs)
	if err != nil {
		return n, err
	}
	active := false
	if e != nil {
		if e.HasObservers() {
			for i := range rs {
				if r := rs[i].r; r != nil {
					e.NotifyWait(r)
				}
			}
		}
		take := func() { // touches each request once: there may be very many
			for i := range rs {
				r := rs[i].r
				if r == nil || !r.Active {
					continue
				}
				active = true
				if r.Done() {
					var st Status
					err := rs[i].take(e, &st)
					note(i, st, err)
				}
			}
		}
		receive := func() { e.Proc().ProgressMany(len(rs), min(len(rs)/emptyPollFor, maxEmptyPolls)) }
		if len(rs) >= emptyPollFor {
			receive()
		}
		take()
		if active && n == 0 {
			if wait {
				inner := e.Scratch(len(rs))
				for i := range rs {
					inner[i] = rs[i].r
				}
				e.AwaitAny(inner)
				e.Return(inner)
			}
			receive()
			take()
		}
		e.Proc().Unlock()
	}
	switch {
	case failed.n > 0:
		return n, failed.inStatus(by, n)
	case n == 0 && !active:
		return Undefined, nil
	}
	return n, nil
}

// Testall completes all of rs if all are complete, and otherwise none. Statuses and errors are
// those of Waitall.
//
// C: MPI_Testall, section 3.7.5.
func Testall(rs []Request, sts []Status) (bool, error) {
	if err := statusesFit(call.Testall, len(rs), sts); err != nil {
		return false, err
	}
	attendAll(rs)
	for i := range rs {
		if _, done, _ := rs[i].peek(call.Testall, false); !done {
			return false, nil
		}
	}
	return true, Waitall(rs, sts)
}

// GetStatusAll is Testall that does not complete the requests.
//
// C: MPI_Request_get_status_all, section 3.7.6.
func GetStatusAll(rs []Request, sts []Status) (bool, error) {
	if err := statusesFit(call.RequestGetStatusAll, len(rs), sts); err != nil {
		return false, err
	}
	attendAll(rs)
	var failed failures
	for i := range rs {
		st, done, err := rs[i].peek(call.RequestGetStatusAll, true)
		if !done {
			return false, nil
		}
		if err != nil {
			st.Err = failed.note(err)
		}
		if sts != nil {
			sts[i] = st
		}
	}
	if failed.n > 0 {
		return true, failed.inStatus(call.RequestGetStatusAll, len(rs))
	}
	return true, nil
}

// GetStatusAny is Testany that does not complete the request.
//
// C: MPI_Request_get_status_any, section 3.7.6.
func GetStatusAny(rs []Request) (int, Status, bool, error) {
	active := false
	for i := range rs {
		if rs[i].idle() {
			continue
		}
		active = true
		if st, done, err := rs[i].peek(call.RequestGetStatusAny, true); done {
			return i, st, true, raise(err)
		}
	}
	return Undefined, emptyStatus(), !active, nil
}

// GetStatusSome is Testsome that does not complete the requests.
//
// C: MPI_Request_get_status_some, section 3.7.6.
func GetStatusSome(rs []Request, indices []int, sts []Status) (int, error) {
	if len(indices) < len(rs) {
		return 0, fail(ErrArg, call.RequestGetStatusSome, nil, "%d indices for %d requests", len(indices), len(rs))
	}
	if err := statusesFit(call.RequestGetStatusSome, len(rs), sts); err != nil {
		return 0, err
	}
	n, active := 0, false
	var failed failures
	for i := range rs {
		if rs[i].idle() {
			continue
		}
		active = true
		st, done, err := rs[i].peek(call.RequestGetStatusSome, true)
		if !done {
			continue
		}
		if err != nil {
			st.Err = failed.note(err)
		}
		indices[n] = i
		if sts != nil {
			sts[n] = st
		}
		n++
	}
	switch {
	case failed.n > 0:
		return n, failed.inStatus(call.RequestGetStatusSome, n)
	case !active:
		return Undefined, nil
	}
	return n, nil
}

// idle reports whether q is null or inactive. A stale handle is not idle, so that the caller
// looks at it and gets its error.
func (q *Request) idle() bool {
	if q.r == nil {
		return q.err == nil
	}
	p := q.c.w.P2P.Proc()
	p.Lock()
	defer p.Unlock()
	return !q.stale() && !q.r.Active
}
