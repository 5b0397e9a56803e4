// Package benchmark holds the loops of `halo bench`, written against package mpi as a user would write
// them. cmd/halo runs them, and bench/compare runs that command beside other MPIs.
//
// kinds lists the benchmarks. Run carries out one on the ranks that call it, and a Report has its lines, as
// text or JSON. The files seeds*.go are the experiments of the paper on extensions: see docs/experiments.md.
//
// All loops follow one method (measure.go): a loop is warmed up and calibrated at once, runs as often as it takes
// to last for a set time, and the median of some repetitions counts. `halo bench` runs a page of some
// benchmarks in less than 10 seconds.
//
// The trap: bench/halobench.c has the same loops in C for other MPIs, except for extensions. A change here needs
// the same change there, or the figures cannot be compared. A test compares the constants of both; nothing
// compares the loops.
package benchmark
