package agree

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
)

// Refusal is the error of a member that depends on one that has refused the collective.
type Refusal struct {
	Err  class.Error
	Rank int // of that member, in the whole communicator
}

// NewRefusal returns the error. name is how it names the member that refuses, of a rank.
func NewRefusal(name string, rank int, cl class.Class) *Refusal {
	cl = ClassOf(uint32(cl))
	says, _ := class.Describe(cl)
	return &Refusal{class.Error{Class: cl, Text: fmt.Sprintf("%s takes no part in it: its arguments are wrong (%s)", name, says)}, rank}
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Text }

// Unwrap returns the error with its class.
func (r *Refusal) Unwrap() error { return &r.Err }

// IsRefusal reports whether an error says that another member has refused the collective.
func IsRefusal(err error) bool {
	_, ok := err.(*Refusal)
	return ok
}

// ClassOf returns the class whose number a member has sent, Intern if there is no such class.
func ClassOf(told uint32) class.Class {
	c := class.Class(told)
	if name, _ := class.Describe(c); name == "" || c == class.Success {
		return class.Intern
	}
	return c
}
