package mpi

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/p2p"
)

// several prepares completing any of rs: it checks them and returns the
// engine's requests, null ones as nil, with the lock held; e is nil if there is
// nothing to wait for. The slice of requests is to be given back to e.
func several(what string, rs []Request) (e *p2p.Engine, inner []*p2p.Request, err error) {
	for i := range rs {
		q := &rs[i]
		if q.r == nil {
			continue
		}
		switch {
		case e == nil:
			e = q.c.w.P2P
			e.Proc().Lock()
			inner = e.Scratch(len(rs))
		case e != q.c.w.P2P:
			e.Return(inner)
			e.Proc().Unlock()
			return nil, nil, fail(ErrRequest, what, "", "request %d belongs to another process than request 0", i)
		}
		if q.r.Gen != q.gen {
			e.Return(inner)
			e.Proc().Unlock()
			return nil, nil, fail(ErrRequest, what, q.c.Name(), "request %d of %v is stale: it was completed or freed through another copy", i, q.call)
		}
		inner[i] = q.r
	}
	return e, inner, nil
}

// inStatus is the error of a call that completed several requests of which some failed.
func inStatus(what string, failed, n int, first error) error {
	return &Error{Class: ErrInStatus, Call: what, Peer: Undefined, Tag: Undefined, cause: first,
		Detail: fmt.Sprintf("%d of %d operations failed, the first: %v", failed, n, first)}
}

// statusesFit checks the length of an array of statuses, which may be nil.
func statusesFit(what string, n int, sts []Status) error {
	if sts != nil && len(sts) < n {
		return fail(ErrArg, what, "", "%d statuses for %d requests", len(sts), n)
	}
	return nil
}

// Waitall waits for all of rs. The statuses, if sts is not nil, are as if each
// had been waited for; an error of any is ErrInStatus, and Status.Err tells which.
//
// C: MPI_Waitall, section 3.7.5.
func Waitall(rs []Request, sts []Status) error {
	if err := statusesFit("Waitall", len(rs), sts); err != nil {
		return err
	}
	e, inner, err := several("Waitall", rs)
	if err != nil {
		return err
	}
	if e != nil {
		e.Return(inner)
	}
	failed := 0
	var first error
	for i := range rs { // under one lock: a window of messages costs two operations on it
		q := &rs[i]
		st := emptyStatus()
		if q.r != nil {
			e.Wait(q.r)
			st, err = q.take(e)
		} else {
			_, err = q.begin("Waitall")
		}
		if err != nil {
			st.Err = err
			if failed++; first == nil {
				first = err
			}
		}
		if sts != nil {
			sts[i] = st
		}
	}
	if e != nil {
		e.Proc().Unlock()
	}
	if failed > 0 {
		return inStatus("Waitall", failed, len(rs), first)
	}
	return nil
}

// Waitany waits for one of rs and returns its index and status. If all are null
// or inactive the index is Undefined.
//
// C: MPI_Waitany, section 3.7.5.
func Waitany(rs []Request) (int, Status, error) {
	i, st, _, err := anyOf("Waitany", rs, true)
	return i, st, err
}

// Testany is Waitany that does not wait: false means that none is complete.
//
// C: MPI_Testany, section 3.7.5.
func Testany(rs []Request) (int, Status, bool, error) { return anyOf("Testany", rs, false) }

func anyOf(what string, rs []Request, wait bool) (int, Status, bool, error) {
	for i := range rs {
		if err := rs[i].err; err != nil {
			rs[i] = Request{}
			return i, emptyStatus(), true, err
		}
	}
	e, inner, err := several(what, rs)
	if e == nil {
		return Undefined, emptyStatus(), true, err
	}
	defer e.Proc().Unlock()
	active, done := e.Any(inner, wait)
	e.Return(inner)
	if !active {
		return Undefined, emptyStatus(), true, nil
	}
	if done < 0 {
		return Undefined, emptyStatus(), false, nil
	}
	st, err := rs[done].take(e)
	return done, st, true, err
}

// Waitsome waits for at least one of rs and completes all that can be: their
// number is returned, Undefined if all are null or inactive. indices and sts,
// which may be nil, are filled from the start.
//
// C: MPI_Waitsome, section 3.7.5.
func Waitsome(rs []Request, indices []int, sts []Status) (int, error) {
	return some("Waitsome", rs, indices, sts, true)
}

// Testsome is Waitsome that does not wait: 0 means that none is complete.
//
// C: MPI_Testsome, section 3.7.5.
func Testsome(rs []Request, indices []int, sts []Status) (int, error) {
	return some("Testsome", rs, indices, sts, false)
}

func some(what string, rs []Request, indices []int, sts []Status, wait bool) (int, error) {
	if len(indices) < len(rs) {
		return 0, fail(ErrArg, what, "", "%d indices for %d requests", len(indices), len(rs))
	}
	if err := statusesFit(what, len(rs), sts); err != nil {
		return 0, err
	}
	n, failed := 0, 0
	var first error
	note := func(i int, st Status, err error) {
		if err != nil {
			st.Err = err
			if failed++; first == nil {
				first = err
			}
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
	e, inner, err := several(what, rs)
	if err != nil {
		return n, err
	}
	active := false
	if e != nil {
		active, _ = e.Any(inner, wait && n == 0)
		for i, r := range inner {
			if r != nil && r.Active && r.Done() {
				st, err := rs[i].take(e)
				note(i, st, err)
			}
		}
		e.Return(inner)
		e.Proc().Unlock()
	}
	switch {
	case failed > 0:
		return n, inStatus(what, failed, n, first)
	case n == 0 && !active:
		return Undefined, nil
	}
	return n, nil
}

// Testall completes all of rs if all are complete, and none otherwise. Statuses
// and errors are as with Waitall.
//
// C: MPI_Testall, section 3.7.5.
func Testall(rs []Request, sts []Status) (bool, error) {
	done, err := GetStatusAll(rs, nil)
	if !done {
		return false, nil
	}
	if err != nil && !isInStatus(err) {
		return false, err
	}
	return true, Waitall(rs, sts)
}

func isInStatus(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Class == ErrInStatus
}

// GetStatusAll is Testall that leaves the requests as they are.
//
// C: MPI_Request_get_status_all, section 3.7.6.
func GetStatusAll(rs []Request, sts []Status) (bool, error) {
	if err := statusesFit("GetStatusAll", len(rs), sts); err != nil {
		return false, err
	}
	failed := 0
	var first error
	for i := range rs {
		st, done, err := rs[i].GetStatus()
		if !done {
			return false, nil
		}
		if err != nil {
			st.Err = err
			if failed++; first == nil {
				first = err
			}
		}
		if sts != nil {
			sts[i] = st
		}
	}
	if failed > 0 {
		return true, inStatus("GetStatusAll", failed, len(rs), first)
	}
	return true, nil
}

// GetStatusAny is Testany that leaves the request as it is.
//
// C: MPI_Request_get_status_any, section 3.7.6.
func GetStatusAny(rs []Request) (int, Status, bool, error) {
	active := false
	for i := range rs {
		if rs[i].idle() {
			continue
		}
		active = true
		if st, done, err := rs[i].GetStatus(); done {
			return i, st, true, err
		}
	}
	return Undefined, emptyStatus(), !active, nil
}

// GetStatusSome is Testsome that leaves the requests as they are.
//
// C: MPI_Request_get_status_some, section 3.7.6.
func GetStatusSome(rs []Request, indices []int, sts []Status) (int, error) {
	if len(indices) < len(rs) {
		return 0, fail(ErrArg, "GetStatusSome", "", "%d indices for %d requests", len(indices), len(rs))
	}
	if err := statusesFit("GetStatusSome", len(rs), sts); err != nil {
		return 0, err
	}
	n, failed, active := 0, 0, false
	var first error
	for i := range rs {
		if rs[i].idle() {
			continue
		}
		active = true
		st, done, err := rs[i].GetStatus()
		if !done {
			continue
		}
		if err != nil {
			st.Err = err
			if failed++; first == nil {
				first = err
			}
		}
		indices[n] = i
		if sts != nil {
			sts[n] = st
		}
		n++
	}
	switch {
	case failed > 0:
		return n, inStatus("GetStatusSome", failed, n, first)
	case !active:
		return Undefined, nil
	}
	return n, nil
}

// idle reports whether q is null or inactive. A stale handle is not: looking at
// it gives its error.
func (q *Request) idle() bool {
	if q.r == nil {
		return q.err == nil
	}
	p := q.c.w.P2P.Proc()
	p.Lock()
	defer p.Unlock()
	return q.r.Gen == q.gen && !q.r.Active
}
