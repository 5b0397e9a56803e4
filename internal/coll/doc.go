// Package coll is the collective operations (MPI-5 chapter 6) and the
// communicators made by them (chapter 7), for bytes, layouts of package dtype and the
// reductions of package op.
//
// Every collective exists as a schedule: rounds of sends, receives and
// reductions that the progress engine runs, see schedule. Do starts one and
// waits; Start returns its request, or a persistent request, which begins the same
// schedule again and again. What the members give is Args, which check validates in
// one place.
//
// A Side of Args is of a slice, or of a Buffer of any layout; an Alltoallw has two for
// every pair (Pairs). Algorithms see but mem.Mem, ranges of bytes, of which
// those of a layout are counted in its packed form. So everything that members must
// agree on, sizes, pieces and choices, is the same for one that gives a slice and one
// that gives a layout of the same signature, and no message is packed as a whole: what
// is sent and received goes to package p2p as it is, and slots are filled and emptied
// a stage or a piece at a time. Only blocks that an algorithm collects on the way, as
// trees and leaders do with short ones, stand packed in scratch memory, and what an
// alltoall in place is about to overwrite.
//
// Blocking collectives are short cut where the members share memory: barrier, bcast,
// allreduce, allgather and alltoall, of two members if each gives little, are straight
// code on the communicator's slot of the control segment; see slot, and slotMax for
// how far.
//
// Every member must come to the same choice of slot or schedule, and of the
// algorithm: the choice depends only on what is the same for all of them, which
// is the operation, the number of bytes and the communicator. Choice is the table,
// Tunables what the environment may override of it.
//
// # Algorithms
//
// Each stands in a file named after the collective and itself. "direct" and
// "linear" ones exchange with many at once, in one or two rounds. They are for
// members on a node: everybody copies what he needs from where it is, and with
// fewer cores than ranks few rounds matter most, since each may have to wait for
// somebody to get a core. Rings and chains send every byte once to a neighbour, for
// long messages between many; trees, doubling and Bruck take log2 n rounds, for
// short ones.
//
// Those with leaders are for members on several nodes: what crosses the network does so
// once for a node, see division. Short blocking ones share a slot on each node, see
// across.
//
// # Order
//
// Which operands are combined, and in which order, follows from the ranks and the
// algorithm, never from timing. An element of an allreduce is either combined in
// one place, or by the same expression in all, so that all get the same bits.
//
// The names of exported methods with the lock: those that return a request are
// called with the engine's lock held, those that block take it.
package coll
