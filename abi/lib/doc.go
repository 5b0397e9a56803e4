// Lib is the C library: libmpi_abi.so.1 is this package, built with
//
//	go build -buildmode=c-shared ./abi/lib
//
// It exists on Linux only, built with cgo. The symbols of MPI are in C (procedures.c, generated). They do the shortest calls
// in C (the files fast_*; fast.go lists them), on the records of the engine, and pass all others to Go by one function,
// haloRun, with their arguments as words; package abi/bind carries them out. Such a call costs some 60 ns
// (docs/decisions/c-library.md).
//
// The trap: Go code of a call runs on a stack of its own, in a thread of the program. Signal handlers, siglongjmp, forks and
// debuggers of the program meet it there: handler.c, jump.c, fork.c and enter.h say how they pass.
package main
