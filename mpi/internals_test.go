package mpi

// Internals makes internals available to tests.
var Internals internals
