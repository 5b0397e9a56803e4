// Package histories tests package mpi by random programs. A seed determines a program: the
// same on every fabric, correct in MPI, and with an oracle that knows nothing of Halo and
// says which outcomes the standard allows. There are three families:
//
//   - messages: point-to-point communication in several goroutines of each rank;
//   - layouts: messages between derived datatypes, by every call that sends or receives;
//   - onesided: windows, epochs, accesses, and the extensions of one-sided communication.
//
// It has nothing but tests, which use what a program can use.
package histories
