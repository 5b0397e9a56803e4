// Unwind has debuggers show the frames of the C program behind a call of the library.
//
//	go run ./abi/unwind LIBRARY...
//
// A call from C goes to Go's runtime.cgocallback, which changes from the thread's stack to the
// stack of a goroutine. Go's unwind tables end there. Unwind rewrites the table of this one
// function in .debug_frame of a linked library, so that backtraces of running processes and of
// cores continue in the function of abi/lib/enter.c that has called, and then in the program.
//
// It changes nothing but .debug_frame, which is not loaded: libraries work without it. Run again
// it finds its own table and leaves the library as it is.
package main

import (
	"fmt"
	"os"
)

func main() {
	failed := false
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(os.Stderr, "unwind: %s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
