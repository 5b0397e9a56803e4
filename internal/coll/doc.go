// Package coll is the collective operations (MPI-5 chapter 6) and the
// communicators made by them (chapter 7), for blocks of bytes and the built-in
// reductions of package op.
//
// Every collective exists as a schedule: rounds of sends, receives and
// reductions that the progress engine runs, see schedule. Nonblocking calls
// return its request. A blocking call starts it and waits, unless the members
// share memory and the operation is short: then it is straight code on the
// communicator's slot of the control segment, see slot.
//
// Every member must come to the same choice of slot or schedule, and of the
// algorithm: the choice depends only on what is the same for all of them, which
// is the operation, the number of bytes and the communicator.
//
// The names of exported methods with the lock: those that return a request are
// called with the engine's lock held, those that block take it.
package coll
