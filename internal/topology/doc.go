// Package topology is the arithmetic of process topologies (MPI-5 chapter 8): positions in
// Cartesian grids, and arrangements of the processes of several hosts on grids and graphs that keep
// neighbours on one host.
//
// It knows nothing of communicators: a process is a number, a host is a number, and every member
// computes the same result from the same arguments.
package topology
