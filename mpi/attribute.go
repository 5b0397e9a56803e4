package mpi

import (
	"slices"
	"sync"
)

// Keyval is a key under which each communicator can hold a value of type T, an
// attribute, in this process: how a library keeps what it knows of a communicator
// with it. Keys are values; the zero Keyval is invalid. What the standard passes
// to callbacks as extra state, a Go function has anyway.
//
// Callbacks are called by the goroutine whose call is the reason, without any
// lock, so that they may call anything. Which communicators have which attributes
// is for the goroutines of a program to agree upon.
//
// C: MPI_Comm_create_keyval and MPI_KEYVAL_INVALID, section 7.7.2.
type Keyval[T any] struct{ k *keyval }

// keyval is a key without its type. It lives as long as a Keyval or an attribute
// refers to it.
type keyval struct {
	copy   func(old *Comm, v any) (any, bool, error) // nil: do not copy
	delete func(c *Comm, v any) error                // nil: nothing to do
}

// attributes are what a communicator holds, in the order in which they were set.
type attributes struct {
	mu  sync.Mutex
	all []*attribute
}

type attribute struct {
	key      *keyval
	v        any
	deleting bool // its callback is running: the attribute is gone if that succeeds
}

// CreateKeyval makes a key. copy is called when a communicator with an attribute
// is duplicated, and returns the new one's value, or false if it is to have none;
// nil means that it has none (MPI_COMM_NULL_COPY_FN), and DupFn copies. delete is
// called when an attribute is deleted, replaced, or its communicator is freed;
// nil does nothing (MPI_COMM_NULL_DELETE_FN). An error of a callback fails the
// call that is the reason for it, and changes nothing: see Dup and Free.
//
// C: MPI_Comm_create_keyval, section 7.7.2.
func CreateKeyval[T any](copy func(old *Comm, value T) (T, bool, error), delete func(c *Comm, value T) error) Keyval[T] {
	k := &keyval{}
	if copy != nil {
		k.copy = func(old *Comm, v any) (any, bool, error) { return copy(old, v.(T)) }
	}
	if delete != nil {
		k.delete = func(c *Comm, v any) error { return delete(c, v.(T)) }
	}
	return Keyval[T]{k}
}

// DupFn is a copy callback that gives the new communicator the same value.
//
// C: MPI_COMM_DUP_FN, section 7.7.2.
func DupFn[T any](_ *Comm, value T) (T, bool, error) { return value, true, nil }

// IsInvalid reports whether k is the zero Keyval, which CreateKeyval never returns.
//
// C: MPI_KEYVAL_INVALID, section 7.7.2.
func (k Keyval[T]) IsInvalid() bool { return k.k == nil }

// Free makes k invalid. Attributes under the key stay, with their callbacks.
//
// C: MPI_Comm_free_keyval, section 7.7.2.
func (k *Keyval[T]) Free() error {
	if k.k == nil {
		return fail(ErrKeyval, "Free", nil, "attribute key is invalid")
	}
	k.k = nil
	return nil
}

// SetAttr gives the communicator a value under the key. If it has one, that is
// deleted first, and stays if its callback fails.
//
// C: MPI_Comm_set_attr, section 7.7.2.
func SetAttr[T any](c *Comm, k Keyval[T], value T) error {
	if err := c.keyed(callSetAttr, k.k); err != nil {
		return err
	}
	if err := c.deleteAttr(callSetAttr, k.k); err != nil {
		return err
	}
	c.attrs.mu.Lock()
	c.attrs.all = append(c.attrs.all, &attribute{key: k.k, v: value})
	c.attrs.mu.Unlock()
	return nil
}

// GetAttr returns the value under the key, and whether there is one.
//
// C: MPI_Comm_get_attr, section 7.7.2.
func GetAttr[T any](c *Comm, k Keyval[T]) (T, bool, error) {
	var none T
	if err := c.keyed(callGetAttr, k.k); err != nil {
		return none, false, err
	}
	c.attrs.mu.Lock()
	defer c.attrs.mu.Unlock()
	if a := c.attrs.find(k.k); a != nil {
		return a.v.(T), true, nil
	}
	return none, false, nil
}

// DeleteAttr deletes the value under the key, if there is one. It stays if its
// callback fails.
//
// C: MPI_Comm_delete_attr, section 7.7.2.
func DeleteAttr[T any](c *Comm, k Keyval[T]) error {
	if err := c.keyed(callDeleteAttr, k.k); err != nil {
		return err
	}
	return c.deleteAttr(callDeleteAttr, k.k)
}

func (c *Comm) keyed(call call, k *keyval) *Error {
	if err := c.usable(call); err != nil {
		return err
	}
	if k == nil {
		return fail(ErrKeyval, call.String(), c, "attribute key is invalid")
	}
	return nil
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

// deleteAttr deletes the attribute of a key, if there is one.
func (c *Comm) deleteAttr(call call, k *keyval) error {
	c.attrs.mu.Lock()
	a := c.attrs.find(k)
	if a != nil {
		a.deleting = true
	}
	c.attrs.mu.Unlock()
	return c.dispose(call, a)
}

// deleteAttrs deletes all attributes, the last set first, up to one whose
// callback fails.
func (c *Comm) deleteAttrs(call call) error {
	for {
		c.attrs.mu.Lock()
		var last *attribute
		for _, a := range c.attrs.all {
			if !a.deleting {
				last = a
			}
		}
		if last != nil {
			last.deleting = true
		}
		c.attrs.mu.Unlock()
		if last == nil {
			return nil
		}
		if err := c.dispose(call, last); err != nil {
			return err
		}
	}
}

// dispose calls the delete callback of an attribute that is marked, or nil, and
// removes it; or unmarks it if the callback fails.
func (c *Comm) dispose(call call, a *attribute) error {
	if a == nil {
		return nil
	}
	var err error
	if a.key.delete != nil {
		err = a.key.delete(c, a.v)
	}
	c.attrs.mu.Lock()
	if a.deleting = false; err == nil {
		c.attrs.all = slices.DeleteFunc(c.attrs.all, func(b *attribute) bool { return a == b })
	}
	c.attrs.mu.Unlock()
	if err != nil {
		return callbackError(err, call, c, "delete").raised()
	}
	return nil
}

// copyAttrs gives d, made of c, the attributes that are copied. If a callback
// fails d gets none: what was copied is deleted again. The error is still to be
// raised.
func (c *Comm) copyAttrs(call call, d *Comm) *Error {
	c.attrs.mu.Lock()
	all := slices.DeleteFunc(slices.Clone(c.attrs.all), func(a *attribute) bool { return a.deleting })
	c.attrs.mu.Unlock()
	for _, a := range all {
		if a.key.copy == nil {
			continue
		}
		v, keep, err := a.key.copy(c, a.v)
		if err != nil {
			for i := len(d.attrs.all) - 1; i >= 0; i-- {
				if b := d.attrs.all[i]; b.key.delete != nil {
					b.key.delete(d, b.v) // the error to report is that of the copy
				}
			}
			d.attrs.all = nil
			return callbackError(err, call, c, "copy")
		}
		if keep {
			d.attrs.all = append(d.attrs.all, &attribute{key: a.key, v: v})
		}
	}
	return nil
}

// callbackError is that of a call whose callback has failed: of its class, if the
// callback's error has one.
func callbackError(err error, call call, c *Comm, which string) *Error {
	e := newError(codeOf(err), call.String(), c, "%s callback of an attribute: %v", which, err)
	e.cause = err
	return e
}
