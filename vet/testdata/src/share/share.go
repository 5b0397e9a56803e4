// Package share has generic callers of package mpi.
package share

import (
	"reflect"

	"github.com/halo-mpi/halo/mpi"
)

// All sends all elements: they must be plain data.
func All[T any](c *mpi.Comm, x []T) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	for range x {
		c.Rank()
	}
	return mpi.Bcast(c, x, 0)
}

// Pairs sends values of which T is a part.
func Pairs[K, T any](c *mpi.Comm, k K, x T) error {
	return mpi.Bcast(c, []struct {
		N int
		T [2]T
	}{{1, [2]T{x, x}}}, 0)
}

// Either sends on one rank and receives on the others.
func Either[T any](c *mpi.Comm, x []T) error {
	if c.Rank() == 0 {
		return mpi.Send(c, x, 1, 0)
	}
	_, err := mpi.Recv(c, x, 0, 0)
	return err
}

// Branches does so by if and else.
func Branches[T any](c *mpi.Comm, x []T) (err error) {
	if c.Rank() == 0 {
		err = All(c, x)
	} else if c.Rank() == 1 {
		err = All(c, x)
	} else {
		_, err = mpi.Recv(c, x, 0, 0)
	}
	return err
}

// Perhaps has another way for what is no plain data.
func Perhaps[T any](c *mpi.Comm, x []T) error {
	if reflect.TypeFor[T]().Kind() == reflect.String {
		return nil
	}
	return mpi.Bcast(c, x, 0)
}

// Some sends only some types.
func Some[T any](c *mpi.Comm, x []T) {
	switch any(x).(type) {
	case []int:
		mpi.Bcast(c, x, 0)
	}
	if len(x) > 0 && mpi.Bcast(c, x, 0) == nil {
		return
	}
	for range x {
		mpi.Bcast(c, x, 0)
	}
	func() { mpi.Bcast(c, x, 0) }()
	later := func() error { return mpi.Bcast(c, x, 0) }
	_ = later
}

// Count does nothing with the elements.
func Count[T any](c *mpi.Comm, x []T) int { return len(x) }

// Store may be without a window.
type Store[T any] struct {
	Local []T
	Win   mpi.Win[T]
}

// Open opens the window.
func (s *Store[T]) Open(c *mpi.Comm) (err error) {
	s.Win, err = mpi.WinCreate(c, s.Local, nil)
	return err
}

type texts interface{ ~string | ~[]byte }

type mixed interface{ ~string | ~int }

type both interface {
	texts
	String() string
}

func ofTexts[T texts](c *mpi.Comm, x []T) error { return mpi.Bcast(c, x, 0) } // want `mpi.Bcast: T is a string`

func ofBoth[T both](c *mpi.Comm, x []T) error { return mpi.Bcast(c, x, 0) } // want `mpi.Bcast: T is a string`

func ofMixed[T mixed](c *mpi.Comm, x []T) error { return mpi.Bcast(c, x, 0) }

func ofSlices[T any](c *mpi.Comm, x [][]T) error { return mpi.Bcast(c, x, 0) } // want `mpi.Bcast: \[\]T is a slice`

func mixedOnes(c *mpi.Comm) {
	ofMixed(c, []int{1})
	ofMixed(c, []string{"a"}) // want `ofMixed, which calls mpi.Bcast: string is a string`
}
