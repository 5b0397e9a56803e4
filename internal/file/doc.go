// Package file is the engine of files (MPI-5, chapter 14): what a process knows of a file that it has
// opened with others, and how data moves between memory and the file. Package world opens an Engine, and
// package mpi calls it.
//
// A View maps positions in the data that a process can access to offsets in the file, with the loop
// programs of package dtype in both directions. Independent accesses (transfer.go) make system calls
// for the runs of the view. Writes touch no byte outside of the view: a byte that another process
// writes at the same time is never read and written back. Collective accesses (collective.go) let
// some members gather what all access in a part of the file, so that the system calls are long.
//
// Members compare arguments that must be the same, and each tells the others its error, so that all
// fail if one does (agree.go).
//
// The trap: all positions and pointers in this package are in bytes of the packed form of the
// view, offsets in the file are in bytes of the file, and only package mpi counts elementary types.
package file
