package bind

import (
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// setRequest stores the handle of an operation that has been started, or returns the error of
// its arguments.
func (l *Lib) setRequest(a args, i int, q mpi.Request) error {
	if err := q.Err(); err != nil {
		a.setWord(i, requestNull)
		return err
	}
	h := handle(requestNull)
	if !q.IsNull() {
		h = l.requests.add(q)
	}
	a.setWord(i, h)
	return nil
}

// request returns the request that argument i points to, or nil if it is the null request. The caller must
// call ended or giveBack.
func (l *Lib) request(a args, i int, by call.Number) (at *handle, q *mpi.Request, err error) {
	at = (*handle)(a.result(i))
	if at == nil {
		return nil, nil, l.fail(mpi.ErrRequest, by, "request is %#x, which is no address", a.word(i))
	}
	if *at == requestNull {
		return at, nil, nil
	}
	*at = l.undone(*at)
	q = l.borrow(*at)
	if q == nil {
		return nil, nil, l.noRequest(by, *at)
	}
	return at, q, nil
}

// noRequest raises the error of an invalid request handle.
func (l *Lib) noRequest(by call.Number, h handle) error {
	return l.fail(mpi.ErrRequest, by, "%#x is no request: it was completed or freed, or never was one", h)
}

// ended sets a handle to null if its request has ended.
func (l *Lib) ended(at *handle, q *mpi.Request) {
	h := *at
	if l.hooked.any() {
		l.completed(h, q)
	}
	if q.IsNull() {
		l.requests.remove(h)
		*at = requestNull
	}
	giveBack(h, q)
}

// wait is MPI_Wait.
func (l *Lib) wait(a args) error {
	at, q, err := l.request(a, 0, call.Wait)
	if q == nil {
		if err == nil {
			a.setEmpty(1)
		}
		return err
	}
	st, err := q.Wait()
	l.ended(at, q)
	if s := statusAt(a.word(1)); s != nil {
		s.store(&st)
	}
	return err
}

// setEmpty stores the empty status.
func (a args) setEmpty(i int) {
	if s := statusAt(a.word(i)); s != nil {
		*s = empty
	}
}

// empty is the empty status (section 3.7.3).
var empty = status{source: mpi.AnySource, tag: mpi.AnyTag}

// test is MPI_Test.
func (l *Lib) test(a args) error {
	if err := l.need(call.Test, a, "flag", 1); err != nil {
		return err
	}
	at, q, err := l.request(a, 0, call.Test)
	if q == nil {
		if err == nil {
			a.setBool(1, true)
			a.setEmpty(2)
		}
		return err
	}
	st, done, err := q.Test()
	a.setBool(1, done)
	if done {
		l.ended(at, q)
		a.setStatus(2, st)
	} else {
		giveBack(*at, q)
	}
	return err
}

// several holds the requests of an array during a call.
type several struct {
	handles  []handle
	requests []mpi.Request
	places   []int // of the requests in handles; empty: the same as in requests
	statuses []mpi.Status
	indices  []int
	stand    bool // some requests stand for handles that are done, which have no slot in the table
}

var severals = sync.Pool{New: func() any { return new(several) }}

// A selection says which requests of an array a call needs.
type selection uint8

const (
	allToComplete selection = iota // all requests; what is complete already counts as a null request
	allToSee                       // all requests
	those                          // those that are not null: of very many they may be few
)

// requestsOf collects the requests of an array of n. Unless it returns an error, the caller must call done.
func (l *Lib) requestsOf(a args, i, n int, by call.Number, what selection) (*several, error) {
	if n < 0 {
		return nil, l.fail(mpi.ErrArg, by, "%d requests", n)
	}
	handles := a.handles(i, n)
	if n > 0 && handles == nil {
		return nil, l.fail(mpi.ErrRequest, by, "array of %d requests at %#x", n, a.word(i))
	}
	s := severals.Get().(*several)
	s.handles = handles
	s.requests, s.places = slices.Grow(s.requests[:0], n), s.places[:0]
	for k, h := range handles {
		var q mpi.Request
		switch {
		case h == requestNull:
			if what == those {
				continue
			}
		case isDone(h): // it is complete, and but for requestNothing with an empty status, as the null request is
			if what != allToComplete || h == requestNothing {
				q, s.stand = l.standIn(h), true
			}
		default:
			var ok bool
			q, ok = l.find(h)
			if !ok {
				s.done()
				return nil, l.fail(mpi.ErrRequest, by, "element %d, %#x, is no request: it was completed or freed, or never was one", k, h)
			}
		}
		s.requests = append(s.requests, q)
		if what == those {
			s.places = append(s.places, k)
		}
	}
	return s, nil
}

// place is the index of request k in the array of handles.
func (s *several) place(k int) int {
	if len(s.places) == 0 {
		return k
	}
	return s.places[k]
}

// room returns indices for all requests.
func (s *several) room() []int {
	s.indices = slices.Grow(s.indices[:0], len(s.requests))[:len(s.requests)]
	return s.indices
}

// outcomes returns statuses for all requests, which are empty.
func (s *several) outcomes() []mpi.Status {
	s.statuses = slices.Grow(s.statuses[:0], len(s.requests))[:len(s.requests)]
	return s.statuses
}

// done clears s and returns it to the pool.
func (s *several) done() {
	if s.stand {
		for k := range s.requests {
			if isDone(s.handles[s.place(k)]) && !s.requests[k].IsNull() {
				s.requests[k].Wait() // it is complete: Wait recycles it
			}
		}
		s.stand = false
	}
	clear(s.requests)
	clear(s.statuses)
	s.handles, s.statuses = nil, s.statuses[:0]
	severals.Put(s)
}

// back stores the new state of request k in the handle table and in the program's array.
func (l *Lib) back(s *several, k int) {
	at := &s.handles[s.place(k)]
	if l.hooked.any() {
		l.completed(*at, &s.requests[k])
	}
	switch h := *at; {
	case h == requestNull:
	case isDone(h), isReceived(h):
		if s.requests[k].IsNull() {
			*at = requestNull
		}
	case !s.requests[k].IsNull():
		if slot := l.requests.at(h); slot != nil {
			slot.value = s.requests[k]
		}
	case l.requests.remove(h):
		*at = requestNull
	}
}

// backAll is back for all requests.
func (l *Lib) backAll(s *several) {
	for k := range s.requests {
		l.back(s, k)
	}
}

// storeOne stores the status of one of several operations. It stores the error of the
// operation only if the call returns MPI_ERR_IN_STATUS.
func (s *status) storeOne(st *mpi.Status, call error) {
	s.store(st)
	if code(call) == int(mpi.ErrInStatus) {
		s.err = int32(code(st.Err))
	}
}

// waitall is MPI_Waitall.
func (l *Lib) waitall(a args) error {
	n := a.int(0)
	s, err := l.requestsOf(a, 1, n, call.Waitall, allToComplete)
	if err != nil {
		return err
	}
	defer s.done()
	out := statusesAt(a.word(2), n)
	var sts []mpi.Status
	if out != nil {
		sts = s.outcomes()
	}
	err = mpi.Waitall(s.requests, sts)
	l.backAll(s)
	for k := range out {
		out[k].storeOne(&sts[k], err)
	}
	return err
}

// testall is MPI_Testall, getStatusAll MPI_Request_get_status_all.
func (l *Lib) testall(a args) error { return l.all(a, call.Testall, allToComplete, mpi.Testall) }
func (l *Lib) getStatusAll(a args) error {
	return l.all(a, call.RequestGetStatusAll, allToSee, mpi.GetStatusAll)
}

func (l *Lib) all(a args, by call.Number, what selection, test func([]mpi.Request, []mpi.Status) (bool, error)) error {
	n := a.int(0)
	if err := l.need(by, a, "flag", 2); err != nil {
		return err
	}
	s, err := l.requestsOf(a, 1, n, by, what)
	if err != nil {
		return err
	}
	defer s.done()
	out := statusesAt(a.word(3), n)
	sts := s.outcomes()
	done, err := test(s.requests, sts)
	a.setBool(2, done)
	if done || err != nil {
		l.backAll(s)
		for k := range out {
			out[k].storeOne(&sts[k], err)
		}
	}
	return err
}

// waitany is MPI_Waitany.
func (l *Lib) waitany(a args) error {
	if err := l.need(call.Waitany, a, "index", 2); err != nil {
		return err
	}
	s, err := l.requestsOf(a, 1, a.int(0), call.Waitany, those)
	if err != nil {
		return err
	}
	defer s.done()
	k, st, err := mpi.Waitany(s.requests)
	l.one(a, s, k, 2, 3, &st)
	return err
}

// one stores the index and the status of the operation that has ended.
func (l *Lib) one(a args, s *several, k, index, status int, st *mpi.Status) {
	if k == mpi.Undefined {
		a.setInt(index, k)
		a.setEmpty(status)
		return
	}
	a.setInt(index, s.place(k))
	l.back(s, k)
	a.setStatus(status, *st)
}

// testany is MPI_Testany, getStatusAny MPI_Request_get_status_any.
func (l *Lib) testany(a args) error { return l.any(a, call.Testany, mpi.Testany) }
func (l *Lib) getStatusAny(a args) error {
	return l.any(a, call.RequestGetStatusAny, mpi.GetStatusAny)
}

func (l *Lib) any(a args, by call.Number, test func([]mpi.Request) (int, mpi.Status, bool, error)) error {
	if err := l.needs(by, a, result{2, "index"}, result{3, "flag"}); err != nil {
		return err
	}
	s, err := l.requestsOf(a, 1, a.int(0), by, those)
	if err != nil {
		return err
	}
	defer s.done()
	k, st, done, err := test(s.requests)
	a.setBool(3, done)
	if !done {
		a.setInt(2, undefined)
		return err
	}
	l.one(a, s, k, 2, 4, &st)
	return err
}

// waitsome is MPI_Waitsome, testsome MPI_Testsome, getStatusSome MPI_Request_get_status_some.
func (l *Lib) waitsome(a args) error { return l.some(a, call.Waitsome, mpi.Waitsome) }
func (l *Lib) testsome(a args) error { return l.some(a, call.Testsome, mpi.Testsome) }
func (l *Lib) getStatusSome(a args) error {
	return l.some(a, call.RequestGetStatusSome, mpi.GetStatusSome)
}

func (l *Lib) some(a args, by call.Number, wait func([]mpi.Request, []int, []mpi.Status) (int, error)) error {
	n := a.int(0)
	if err := l.need(by, a, "outcount", 2); err != nil {
		return err
	}
	s, err := l.requestsOf(a, 1, n, by, those)
	if err != nil {
		return err
	}
	defer s.done()
	indices, sts := s.room(), s.outcomes()
	done, err := wait(s.requests, indices, sts)
	a.setInt(2, done)
	out, at := statusesAt(a.word(4), n), a.numbers(3)
	s.statuses = sts[:max(done, 0)] // no others were written
	for k := range s.statuses {
		if !at.null() {
			at.set(k, s.place(indices[k]))
		}
		if out != nil {
			out[k].storeOne(&sts[k], err)
		}
		l.back(s, indices[k])
	}
	return err
}

// onRequest applies a method without arguments to a request, and ends the handle if the request
// has ended.
func (l *Lib) onRequest(a args, by call.Number, do func(*mpi.Request) error) error {
	at, q, err := l.request(a, 0, by)
	switch {
	case err != nil:
		return err
	case q == nil:
		return l.fail(mpi.ErrRequest, by, "request is MPI_REQUEST_NULL")
	}
	if by == call.Start {
		l.startingHook(*at)
	}
	err = do(q)
	if q.IsNull() {
		l.freed(*at)
	}
	l.ended(at, q)
	return err
}

// startall is MPI_Startall.
func (l *Lib) startall(a args) error {
	s, err := l.requestsOf(a, 1, a.int(0), call.Startall, allToSee)
	if err != nil {
		return err
	}
	defer s.done()
	if l.hooked.any() {
		for _, h := range s.handles {
			l.startingHook(h)
		}
	}
	err = mpi.Startall(s.requests)
	l.backAll(s)
	return err
}
