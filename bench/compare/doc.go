// Compare runs Halo's benchmarks beside the same loops in C, under Halo's C library,
// MPICH and Open MPI, and reports ratios. It is make bench, and writes docs/performance.md.
//
//	go run ./bench/compare [-rounds N] [-more N] [-only TEXT] [-quick] [-mpi LIST] [-o DIR] [-page FILE]
//
// A row is one figure (rows.go, and a file for each group of rows), with bars that it has to meet. The
// loops are those of `halo bench` (cmd/halo/internal/benchmark) and of bench/halobench.c; a row finds its
// figure in the lines that these print.
//
// A single figure has no meaning, because the speed of the machine changes by the minute. So
// every benchmark runs with each MPI in turn, A B C A B C, and beside each the limits
// of the hardware are measured. A figure is the median of its rounds, and
// so is a ratio, whose two figures are always of the same round. Only rounds of one phase of the machine
// count (see phase), and the row names it. If a bar is between the ratios of a
// row, or most rounds do not count, the row is undecided after a few rounds and gets more of them.
//
// The trap: a ratio of two medians, or of figures from two runs of this program, compares two states of
// the machine and not two libraries. In another phase a cache line takes 3 to 50 times as long, and the
// libraries do not slow down by the same factor (phase.go).
package main
