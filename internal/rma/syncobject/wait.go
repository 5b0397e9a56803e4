package syncobject

import (
	"errors"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Wait is the state of a persistent request that waits for signals of an object.
type Wait struct {
	object  *Object
	counter *shmfmt.Counter
	count   int64
	restart bool
	strict  bool
	again   bool  // strict only: the last Start completed, so count signals in the counter are old
	early   int64 // number of signals in the counter at Begin
}

// NewWait returns a Wait for count signals of object o, whose counter is counter. With restart the
// request begins again whenever a test or wait has ended it. A strict request loses early signals.
func NewWait(o *Object, counter *shmfmt.Counter, count int64, restart, strict bool) (*Wait, error) {
	switch {
	case count < 0:
		return nil, class.Errorf(class.Count, "%d signals to wait for", count)
	case o.active != nil:
		return nil, class.Errorf(class.Request, "another request of the synchronisation object is active")
	}
	if strict {
		counter.Add(-counter.Value())
	}
	return &Wait{object: o, counter: counter, count: count, restart: restart, strict: strict}, nil
}

// Take returns how many signals the completion of the request subtracts from the counter.
func (q *Wait) Take() int64 {
	if q.strict {
		return 0
	}
	return q.count
}

// Begin starts the request; value is the number of signals in the counter. An error completes the
// request.
func (q *Wait) Begin(value int64) error {
	switch o := q.object; {
	case o.freed:
		return class.Errorf(class.Request, "the synchronisation object has been freed")
	case o.active != nil && o.active != q:
		return class.Errorf(class.Request, "another request of the synchronisation object is active")
	default:
		o.active = q
	}
	if !q.strict {
		q.early = value
		return nil
	}
	q.counter.Add(-value)
	if q.again {
		value -= q.count
	}
	q.again = value <= 0
	if value > 0 {
		return class.Errorf(class.WinCounter, "%d signals came before Start, which sets the counter to %d: they are lost", value, q.count)
	}
	return nil
}

// Finish ends the request, which is complete with err. It returns the error for the call that has
// found the request complete, and whether the request begins again.
func (q *Wait) Finish(err error) (failed error, again bool) {
	q.Abandon()
	if err != nil {
		var e *class.Error
		return err, q.restart && errors.As(err, &e) && e.Class == class.WinCounter
	}
	early := q.counter.Value()
	if q.strict {
		early -= q.count
	}
	switch {
	case q.strict && early > 0:
		err = class.Errorf(class.WinCounter, "the counter is %d: %d signals more than the %d that were waited for", -early, early, q.count)
	case !q.strict && max(early, q.early) > q.count:
		early = max(early, q.early)
		err = class.Errorf(class.WinCounter, "the counter is %d: it has been signalled %d times more than is waited for, and its count is %d", -early, early, q.count)
	}
	return err, q.restart
}

// Abandon ends the request without a result: signals that have arrived stay in the counter.
func (q *Wait) Abandon() {
	if q.object.active == q {
		q.object.active = nil
	}
}
