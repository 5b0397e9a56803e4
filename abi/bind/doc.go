// Package bind implements the symbols of the C library: it takes arguments as C passes them,
// calls package mpi, and stores the results. Package abi/lib, the library, is its only user. It does
// not use cgo, so that Go tests call it without a C compiler. What needs C, such as calling
// functions of the program, is in Hooks.
//
// A Lib is the state of the library: the handles, the communicators, and the errors of calls. The
// functions of the procedures are generated from the table of package abi (procedures.go). What C
// has and Go has not is written by hand: handles, statuses in memory of the program, MPI_IN_PLACE,
// attributes that are addresses.
//
// A call from C to Go costs some 60 ns (docs/architecture.md). The shortest operations therefore
// stay in C (abi/lib/fast.c), on records that fast.go and its neighbours hand out to it: see Fast.
//
// The trap: most arguments are words, and some of them are addresses of which Go's garbage
// collector knows nothing. Memory that functions of the program get or keep comes from Hooks.Lend or
// Hooks.Malloc. A function of the program runs in a thread that is inside a call of the library; the
// goroutine of the garbage collector must not call it (see destructor.go).
package bind
