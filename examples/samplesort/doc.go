// Command samplesort sorts the lines of a file that need not fit into the memory
// of one rank: each reads a part of it, and in the end has about as much of the
// result. Read it for an alltoallv whose lengths nobody knows in advance (exchange.go).
//
//	go run ./cmd/halo run -n 4 ./examples/samplesort [-o FILE] [-lines N] [-seed S] [FILE]
//
// Without FILE it makes lines of its own, the same on any number of ranks. The
// result is verified, and written if -o names a file. All ranks open the files:
// on several hosts these have to be shared.
//
// The trap: splitters that are lines alone do not divide equal lines, and a file of one line a million times
// would end on one rank. So a splitter is a line and its position in the input. A rank needs room for two copies of
// its share, and a line that is longer than a share is never cut.
package main
