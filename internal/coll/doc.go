// Package coll implements the collective operations (MPI-5 chapter 6) and the calls that make
// communicators (chapter 7), for bytes, layouts of package dtype and the reductions of package
// op.
//
// Each collective can run as a schedule: rounds of sends, receives and reductions that the
// progress engine carries out, see schedule. Do starts a schedule and waits for it. Start
// returns the request of a schedule, or a persistent request, which begins the same schedule
// again and again. The arguments of a member are Args; one function, check, validates them.
//
// A Side of Args describes a slice, or a Buffer of any layout. An Alltoallw has two Sides for
// each rank (Pairs). Algorithms use only mem.Mem: ranges of bytes, which for a layout are ranges
// of its packed form. So all that members must agree on (sizes, pieces, choices) is the same for
// a member that gives a slice and for one that gives a layout of the same signature. No message
// is packed as a whole: package p2p takes the memory of a Side as it is, and slots are filled
// and emptied a stage or a piece at a time. Scratch memory holds packed data in two cases: short
// blocks that an algorithm collects on the way (trees and leaders do so), and the data that an
// in-place alltoall is about to overwrite.
//
// Where the members share memory, the short blocking collectives do not run as schedules:
// barrier, bcast, reduce, allreduce, allgather and alltoall are straight code on the
// communicator's slot of the control segment. See slot, and slotMax for the limits of length.
//
// All members must make the same choice between slot and schedule, and of the algorithm.
// Therefore the choice depends only on values that are the same at all members: the operation,
// the number of bytes and the communicator. Choice is the table of algorithms; Tunables are the
// parts of it that the environment can override.
//
// # Algorithms
//
// Each algorithm has a file named after the collective and the algorithm. The algorithms
// "direct" and "linear" exchange with many members at once, in one or two rounds. They suit
// members on one node: each member copies what it needs directly from its source. With fewer
// cores than ranks it matters most that there are few rounds, since in each round a member may
// wait for another one to get a core. Rings and chains send each byte once, to a neighbour; they
// suit long messages between many members. Trees, doubling and Bruck take log2 n rounds; they
// suit short messages.
//
// The algorithms "leaders" suit members on several nodes: data crosses the network once for a
// node, see division. Short blocking collectives use a slot on each node besides, see across.
//
// # Order
//
// The ranks and the algorithm determine which operands are combined and in which order; timing
// does not matter. An element of an allreduce is either combined in one place, or by the same
// expression at all members, so that all members get the same bits.
//
// # Lock
//
// Exported methods that return a request are called with the engine's lock held. Exported
// methods that block take the lock.
package coll
