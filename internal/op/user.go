package op

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
)

// User is an operation that the program defines (MPI-5, 6.9.5).
type User struct {
	// Fn makes inout[i] the combination of in[i], from the lower ranks, and
	// inout[i]. It gets whole elements, packed, as many as whoever calls has at hand.
	Fn func(in, inout []byte)
	// Commutes says that the operands may be exchanged. Otherwise they are combined
	// in the order of the ranks.
	Commutes bool
	// InCalls says that only a goroutine of the program may call Fn, one that is inside
	// a call of MPI.
	InCalls bool
	// Of is the type of elements that Fn works on, nil if it takes any.
	Of reflect.Type
}

// Check returns an error of class Op unless u works on elements of t.
func (u *User) Check(t reflect.Type) error {
	if u.Of == nil || u.Of == t {
		return nil
	}
	return &class.Error{Class: class.Op, Text: fmt.Sprintf("the operation was made for elements of %v, not of %v", u.Of, t)}
}

// Apply stores left o right in dst, as Kernel.Apply does. Left stays left even if the
// operands may be exchanged: two ranks that combine the same get the same, whatever
// the function makes of equal operands. When it panics that is the error; dst is
// then anything.
func (u *User) Apply(dst, left, right []byte) error {
	if len(dst) == 0 {
		return nil
	}
	return Recovered(func() {
		switch {
		case &dst[0] == &right[0]:
			u.Fn(left, dst)
		case &dst[0] != &left[0]:
			copy(dst, right)
			u.Fn(left, dst)
		default:
			sum := slices.Clone(right)
			u.Fn(left, sum)
			copy(dst, sum)
		}
	})
}

// Recovered calls an operation of the program. When that panics it is the error. That
// it is on the stack tells package mpi of calls by operations.
func Recovered(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	f()
	return nil
}

// panicked is the error of an operation that panicked with p.
func panicked(p any) error {
	cause, _ := p.(error)
	return &class.Error{Class: class.Other, Text: fmt.Sprintf("the operation panicked: %v", p), Cause: cause}
}
