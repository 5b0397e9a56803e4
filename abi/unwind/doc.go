// Unwind makes debuggers show the frames of the C program that has called the library, and valgrind
// name the functions of C in which a program's errors appear. The Makefile runs it on the library
// when that is linked.
//
//	go run ./abi/unwind LIBRARY...
//
// A call from C goes through Go's runtime.cgocallback, which changes from the thread's stack to the
// stack of a goroutine. Go's unwind tables end there. Unwind rewrites the table of this one
// function in .debug_frame of a linked library, so that backtraces of running processes and of core
// dumps continue in the calling function of abi/lib/enter.c, and then in the program.
//
// Valgrind 3.19 takes addresses in functions of C for functions that Go has inlined elsewhere. The
// list of suppressions then hides errors there as Go's. So unwind changes .debug_abbrev: the entries
// of functions that Go has inlined become entries of blocks, which have no name.
//
// Unwind changes only these sections, which are not loaded: libraries work without it. It does not
// change a library again that it has rewritten before.
//
// The trap: the rule depends on the frame of abi/lib/enter.c (see enter.h) and on the table that Go's
// linker writes. A table of another form, of a new version of Go for example, is an error and not
// rewritten. A library for another machine than amd64 is left as it is, without an error.
package main
