// Command pagerank finds the most important vertices of a directed graph: those to which
// many important vertices point. Vertices are distributed over the ranks; the score of a vertex is
// in a window of its owner, and owners of vertices that point to it add to the score. Read it for
// accumulates into many places of another rank by one operation with a datatype (part.go).
//
//	go run ./cmd/halo run -n 4 ./examples/pagerank [-top N] [-steps N] [FILE]
//
// FILE is a list of edges, two names in each line, or a database of Debian packages, in
// which a package points to those that it depends on. Without FILE it reads the one of
// the machine, /var/lib/dpkg/status, or else a graph of its own. Rank 0 alone reads. In
// the end it computes everything again by itself: the results must be the same.
//
// The trap: accumulates of several ranks happen in any order. The scores are whole numbers, so that a sum does
// not depend on the order; sums of floating-point numbers would differ from run to run.
package main
