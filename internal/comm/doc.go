// Package comm is what the semantics share of a communicator: its contexts, its members, and the call of the program that
// is in progress on it. Attributes, names and error handlers belong to package mpi. Packages p2p, part, coll, rma, file and
// meet have a Comm in their arguments; mpi makes and frees it.
//
// The trap: a member is the local number of a process, as package proc counts them, and no rank. RankOf and Members
// translate. A communicator that was freed exists until the last operation on it is complete.
package comm
