package mpi

import (
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
)

// Attributed is the set of types whose objects can hold attributes: *Comm, *Window and Datatype.
//
// C: MPI_Comm_set_attr, MPI_Win_set_attr and MPI_Type_set_attr, section 7.7.
type Attributed interface {
	// held returns the attributes of the object, or an error if the object cannot be used.
	held(k call.Number) (*attributes, *Error)
	// attrCalls returns the calls about attributes of objects of the type, also for the zero object.
	attrCalls() attrCalls
	// fails makes an error of a call on the object. The caller has to raise it.
	fails(cl Class, k call.Number, format string, args ...any) *Error
}

// attrCalls are the calls about attributes of objects of one type.
type attrCalls struct{ set, get, delete, freeKeyval call.Number }

// Keyval is a key under which each object of type O, a communicator, window or datatype, can
// hold one value of type T in this process, an attribute. Libraries use attributes to keep their
// own data with an object. Keys are values; the zero Keyval is invalid. There is no extra state
// as in C, since a Go function can capture variables.
//
// The goroutine whose call causes a callback runs it, without holding any lock, so that
// callbacks may call any function. The goroutines of a program must coordinate which of them
// sets and deletes which attributes.
//
// C: MPI_Comm_create_keyval, MPI_Win_create_keyval, MPI_Type_create_keyval and MPI_KEYVAL_INVALID, sections 7.7.2 to 7.7.4.
type Keyval[O Attributed, T any] struct{ k *keyval }

// keyval is a key without its types. It lives as long as a Keyval or an attribute refers to it.
type keyval struct {
	copy   func(old, v any) (any, bool, error) // nil: do not copy
	delete func(o, v any) error                // nil: nothing to do
}

// attributes holds the attributes of one object, in the order in which they were set.
type attributes struct {
	mu  sync.Mutex
	all []*attribute
}

type attribute struct {
	key      *keyval
	v        any
	deleting bool // the delete callback is running; the attribute is removed if the callback succeeds
}

// CreateKeyval makes a key. copy is called when an object with an attribute is duplicated
// (windows are never duplicated); it returns the value for the new object, or false if the new
// object gets no attribute. A nil copy means that duplicates get no attribute
// (MPI_COMM_NULL_COPY_FN); DupFn copies the value. delete is called when an attribute is deleted
// or replaced, and when its object is freed; a nil delete does nothing
// (MPI_COMM_NULL_DELETE_FN). If a callback returns an error, the call that caused it fails and
// changes nothing: see Dup and Free.
//
// C: MPI_Comm_create_keyval, MPI_Win_create_keyval and MPI_Type_create_keyval, sections 7.7.2 to 7.7.4.
func CreateKeyval[O Attributed, T any](copy func(old O, value T) (T, bool, error), delete func(o O, value T) error) Keyval[O, T] {
	k := &keyval{}
	if copy != nil {
		k.copy = func(old, v any) (any, bool, error) { return copy(old.(O), v.(T)) }
	}
	if delete != nil {
		k.delete = func(o, v any) error { return delete(o.(O), v.(T)) }
	}
	return Keyval[O, T]{k}
}

// DupFn is a copy callback that gives the duplicate the same value.
//
// C: MPI_COMM_DUP_FN, MPI_WIN_DUP_FN and MPI_TYPE_DUP_FN, sections 7.7.2 to 7.7.4.
func DupFn[O Attributed, T any](_ O, value T) (T, bool, error) { return value, true, nil }

// IsInvalid reports whether k is the zero Keyval, which CreateKeyval never returns.
//
// C: MPI_KEYVAL_INVALID, section 7.7.2.
func (k Keyval[O, T]) IsInvalid() bool { return k.k == nil }

// Free makes k invalid. Attributes under the key remain, and so do their callbacks.
//
// C: MPI_Comm_free_keyval, MPI_Win_free_keyval and MPI_Type_free_keyval, sections 7.7.2 to 7.7.4.
func (k *Keyval[O, T]) Free() error {
	if k.k == nil {
		var of O
		return fail(ErrKeyval, of.attrCalls().freeKeyval, nil, "attribute key is invalid")
	}
	k.k = nil
	return nil
}

// SetAttr gives an object a value under the key. An existing value is deleted first; if its
// delete callback fails, the old value remains.
//
// C: MPI_Comm_set_attr, MPI_Win_set_attr and MPI_Type_set_attr, sections 7.7.2 to 7.7.4.
func SetAttr[O Attributed, T any](o O, k Keyval[O, T], value T) error {
	by := o.attrCalls().set
	s, err := keyed(o, by, k.k)
	if err != nil {
		return err
	}
	if err := s.delete(o, by, k.k); err != nil {
		return err
	}
	s.mu.Lock()
	s.all = append(s.all, &attribute{key: k.k, v: value})
	s.mu.Unlock()
	return nil
}

// GetAttr returns the value under the key, and whether there is one.
//
// C: MPI_Comm_get_attr, MPI_Win_get_attr and MPI_Type_get_attr, sections 7.7.2 to 7.7.4.
func GetAttr[O Attributed, T any](o O, k Keyval[O, T]) (T, bool, error) {
	var none T
	s, err := keyed(o, o.attrCalls().get, k.k)
	if err != nil {
		return none, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.find(k.k); a != nil {
		return a.v.(T), true, nil
	}
	return none, false, nil
}

// DeleteAttr deletes the value under the key, if there is one. The value remains if its delete
// callback fails.
//
// C: MPI_Comm_delete_attr, MPI_Win_delete_attr and MPI_Type_delete_attr, sections 7.7.2 to 7.7.4.
func DeleteAttr[O Attributed, T any](o O, k Keyval[O, T]) error {
	by := o.attrCalls().delete
	s, err := keyed(o, by, k.k)
	if err != nil {
		return err
	}
	return s.delete(o, by, k.k)
}

// keyed checks that the object and the key can be used.
func keyed(o Attributed, by call.Number, k *keyval) (*attributes, *Error) {
	s, err := o.held(by)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, o.fails(ErrKeyval, by, "attribute key is invalid").raised()
	}
	return s, nil
}

// find returns the attribute of a key. The mutex is held.
func (s *attributes) find(k *keyval) *attribute {
	for _, a := range s.all {
		if a.key == k && !a.deleting {
			return a
		}
	}
	return nil
}

// delete deletes the attribute of a key that o holds, if there is one.
func (s *attributes) delete(o Attributed, by call.Number, k *keyval) error {
	s.mu.Lock()
	a := s.find(k)
	if a != nil {
		a.deleting = true
	}
	s.mu.Unlock()
	return s.dispose(o, by, a)
}

// clear deletes all attributes of o, the last set first. It stops at the first one whose
// callback fails.
func (s *attributes) clear(o Attributed, by call.Number) error {
	for {
		s.mu.Lock()
		var last *attribute
		for _, a := range s.all {
			if !a.deleting {
				last = a
			}
		}
		if last != nil {
			last.deleting = true
		}
		s.mu.Unlock()
		if last == nil {
			return nil
		}
		if err := s.dispose(o, by, last); err != nil {
			return err
		}
	}
}

// dispose calls the delete callback of a, which is marked as deleting or nil, and then removes
// a. If the callback fails, dispose clears the mark instead.
func (s *attributes) dispose(o Attributed, by call.Number, a *attribute) error {
	if a == nil {
		return nil
	}
	var err error
	if a.key.delete != nil {
		err = a.key.delete(o, a.v)
	}
	s.mu.Lock()
	a.deleting = false
	if err == nil {
		s.all = slices.DeleteFunc(s.all, func(b *attribute) bool { return a == b })
	}
	s.mu.Unlock()
	if err != nil {
		return callbackError(err, o, by, "delete").raised()
	}
	return nil
}

// copy copies attributes from the old object to d, the attributes of the new object. If a
// callback fails, copy deletes again what it has copied, so that d is empty. The caller has to
// raise the error.
func (s *attributes) copy(old, made Attributed, by call.Number, d *attributes) *Error {
	s.mu.Lock()
	all := slices.DeleteFunc(slices.Clone(s.all), func(a *attribute) bool { return a.deleting })
	s.mu.Unlock()
	for _, a := range all {
		if a.key.copy == nil {
			continue
		}
		v, keep, err := a.key.copy(old, a.v)
		if err != nil {
			for _, b := range slices.Backward(d.all) {
				if b.key.delete != nil {
					b.key.delete(made, b.v) // report the error of the copy callback, not one of this delete
				}
			}
			d.all = nil
			return callbackError(err, old, by, "copy")
		}
		if keep {
			d.all = append(d.all, &attribute{key: a.key, v: v})
		}
	}
	return nil
}

// callbackError is the error of a call whose callback has failed. It has the class of the
// callback's error, if that error has one.
func callbackError(err error, o Attributed, by call.Number, which string) *Error {
	e := o.fails(codeOf(err), by, "%s callback of an attribute: %v", which, err)
	e.cause = err
	return e
}

func (c *Comm) held(k call.Number) (*attributes, *Error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	return &c.attrs, nil
}

func (c *Comm) attrCalls() attrCalls {
	return attrCalls{call.CommSetAttr, call.CommGetAttr, call.CommDeleteAttr, call.CommFreeKeyval}
}

func (c *Comm) fails(cl Class, k call.Number, format string, args ...any) *Error {
	return newError(cl, k, c, format, args...)
}

func (w *Window) held(k call.Number) (*attributes, *Error) {
	if err := w.usable(k); err != nil {
		return nil, err
	}
	return &w.attrs, nil
}

func (w *Window) attrCalls() attrCalls {
	return attrCalls{call.WinSetAttr, call.WinGetAttr, call.WinDeleteAttr, call.WinFreeKeyval}
}

func (w *Window) fails(cl Class, k call.Number, format string, args ...any) *Error {
	return newError(cl, k, w.c, format, args...)
}

func (d Datatype) held(k call.Number) (*attributes, *Error) {
	if _, err := d.use(k); err != nil {
		return nil, err
	}
	return &d.h.attrs, nil
}

func (d Datatype) attrCalls() attrCalls {
	return attrCalls{call.TypeSetAttr, call.TypeGetAttr, call.TypeDeleteAttr, call.TypeFreeKeyval}
}

func (d Datatype) fails(cl Class, k call.Number, format string, args ...any) *Error {
	e := newError(cl, k, nil, format, args...)
	e.Object = d.String()
	return e
}
