// Package vet finds, before a program runs, calls of package mpi that fail whenever they are made,
// and requests that nobody can complete. The program halovet runs its analyzers, by itself or as
// go vet -vettool. It is a module of its own, since it needs golang.org/x/tools.
//
// PlainData reports elements that are no plain data: what has pointers, strings, slices and the
// like inside does not travel, and the call returns mpi.ErrType. DroppedRequest reports calls whose
// Request is not kept.
//
// Both decide by types, and report only what is wrong however the program runs. They know no list
// of calls: which type parameters of package mpi are elements that travel is derived from its
// source (see fact.go).
//
// The trap: a report must never be wrong, since go vet rejects a program by it. What an analyzer cannot decide by types
// it does not report.
package vet
