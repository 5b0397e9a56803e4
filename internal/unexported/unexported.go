// Package unexported hands what package mpi does for the bindings of other languages, and for
// mpitest, to them: package mpi need not export it. Each user declares an interface with the
// methods that it calls.
package unexported

// api is what mpi has set while it is initialised. Nothing writes it later.
var api any

// Set is called by package mpi, once, when it is initialised.
func Set(a any) { api = a }

// Get is what mpi has set, as T. It panics if that lacks a method of T.
func Get[T any]() T { return api.(T) }
