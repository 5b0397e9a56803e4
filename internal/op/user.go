package op

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
)

// User is an operation that the program defines (MPI-5, 6.9.5).
type User struct {
	// Fn stores in inout[i] the combination of in[i], from the lower ranks, and inout[i]. It
	// gets any number of whole elements, packed.
	Fn func(in, inout []byte)
	// Commutes tells that the operation is commutative. Otherwise operands are combined in the
	// order of the ranks.
	Commutes bool
	// InCalls tells that only a goroutine that is inside a call of MPI may call Fn.
	InCalls bool
	// Of is the type of the elements for which Fn is made, nil for any.
	Of reflect.Type
}

// Check returns an error of class Op unless u is made for elements of t.
func (u *User) Check(t reflect.Type) error {
	if u.Of == nil || u.Of == t {
		return nil
	}
	return class.Errorf(class.Op, "the operation was made for elements of %v, not of %v", u.Of, t)
}

// Apply stores left o right in dst, as Kernel.Apply does. It does not exchange left and right
// even if the operation is commutative, so that two ranks that combine the same operands get the
// same result, also for operands that the function takes for equal. If the function panics,
// Apply returns an error, and the contents of dst are undefined.
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

// Recovered calls an operation of the program, and returns an error if it panics. Package mpi
// recognises calls from within operations by Recovered on the stack.
func Recovered(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	f()
	return nil
}

// panicked returns the error of an operation that panicked with p.
func panicked(p any) error {
	cause, _ := p.(error)
	return &class.Error{Class: class.Other, Text: fmt.Sprintf("the operation panicked: %v", p), Cause: cause}
}
