// Package unexported gives the bindings of other languages, mpitest and tests access to functions of
// package mpi that it does not export. Each user declares an interface with the methods that it calls.
package unexported

// api is the value that package mpi has set when it was initialised. Nothing writes it later.
var api any

// Set sets the value with the methods. Package mpi calls it once, when it is initialised.
func Set(a any) { api = a }

// Get returns the value that package mpi has set, as T, an interface. It panics if the value lacks a
// method of T.
func Get[T any]() T { return api.(T) }
