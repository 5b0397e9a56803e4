package bind

import (
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// lending keeps handles valid that functions of the program have been given, until these return. A
// function gets the handle by which the program knows the object. If the program has freed the object
// while an operation on it was pending, the object has a handle again for the time of the function.
// If another thread frees the object meanwhile, its handle ends when the function returns.
//
// Rejected: handles that end only when no operation on their object is pending. The tables would
// have to know of every operation, and a stale handle would not be found.
type lending[T comparable] struct {
	mu sync.Mutex
	of map[T]*loan
}

// loan says of an object how many running functions have its handle.
type loan struct {
	functions int
	over      bool // the handle ends with the last of them
}

// lender is a table of which handles are lent.
type lender[T any] interface {
	handleOf(value T, none handle) handle
	put(value T) handle
	end(h handle) bool
}

// lend calls f with the handle of an object.
func (l *lending[T]) lend(t lender[T], value T, none handle, f func(h handle)) {
	l.mu.Lock()
	a := l.of[value]
	if a == nil {
		if l.of == nil {
			l.of = map[T]*loan{}
		}
		a = new(loan)
		l.of[value] = a
	}
	a.functions++
	h := t.handleOf(value, none)
	if h == none {
		h, a.over = t.put(value), true
	}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		a.functions--
		if a.functions == 0 {
			delete(l.of, value)
			if a.over {
				t.end(h)
			}
		}
	}()
	f(h)
}

// keeps reports whether the handle of an object that is to end is lent: then it ends later.
func (l *lending[T]) keeps(value T) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of[value]
	if a != nil {
		a.over = true
	}
	return a != nil
}

// lend calls f with the handle of an object, none for no object.
func (t *named[T]) lend(value T, none handle, f func(h handle)) {
	var no T
	if value == no {
		f(none)
		return
	}
	t.lent.lend(t, value, none, f)
}

// lend calls f with the handle of a datatype.
func (t *typeTable) lend(d mpi.Datatype, f func(h handle)) {
	if h := engine.Handle(d); h >= firstPredefined && h <= lastPredefined {
		f(h)
		return
	}
	t.lent.lend(t, d, typeNull, f)
}

// lendComm calls f with the handle of a communicator, MPI_COMM_NULL for nil.
func (l *Lib) lendComm(c *mpi.Comm, f func(h handle)) {
	if h := l.commHandle(c); h == commWorld || h == commSelf {
		f(h)
		return
	}
	l.comms.lend(c, commNull, f)
}
