package mpi

// Internals is internals for tests.
var Internals internals
