// Package topology is the arithmetic of process topologies (MPI-5 chapter 8): positions in
// Cartesian grids, and arrangements of the processes of several hosts on grids and graphs that keep
// neighbours on one host. Package mpi calls it in CartCreate, GraphCreate and their relatives, and halo info -grid prints
// what it gains.
//
// It knows nothing of communicators: a process is a number, a host is a number, and every member
// computes the same result from the same arguments.
//
// The trap: that must stay so. Members do not tell each other what they have computed, so a result that depends on the
// order of a map, on chance or on the time would give each member another topology.
package topology
