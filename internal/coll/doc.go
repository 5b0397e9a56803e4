// Package coll implements the collective operations (MPI-5 chapter 6) and the calls that make communicators
// (chapter 7), for bytes, layouts of package dtype and the reductions of package op. Package world opens an Engine.
// Package mpi calls it; file, meet and rma use it for agreements among members, and replay plays its rounds.
//
// Each collective can run as a schedule: rounds of sends, receives and reductions that the progress engine carries
// out, see schedule. Do starts a schedule and waits for it. Start returns the request of a schedule, or a persistent
// request, which begins the same schedule again and again. The arguments of a member are Args, in which a Side
// describes memory; args.Args.Check validates them.
//
// Where the members share memory, the short blocking collectives do not run as schedules: barrier, bcast, reduce,
// allreduce, allgather and alltoall are straight code on the communicator's slot of the control segment. See package slot, and
// slot.Max for the limits of length. choice.Choice is the table of algorithms, and choice.Tunables are
// the parts of it that the environment can override.
//
// The ranks and the algorithm determine which operands are combined and in which order; timing does not matter. An
// element of an allreduce is either combined in one place, or by the same expression at all members, so that all
// members get the same bits.
//
// In a slot a barrier of 2 ranks with a core each takes 0.07 us, and an allreduce of 8 bytes 0.09 us; of 4 ranks on 2
// cores 1.5 and 1.7 us (docs/performance.md).
//
// Exported methods that return a request are called with the engine's lock held. Exported methods that block take
// the lock.
//
// The trap: all members must make the same choice between slot and schedule, and of the algorithm. A choice may
// depend only on values that are the same at all members: the operation, the number of bytes and the communicator. The
// memory of a member, whether it is a slice or a layout, and its load must not matter, or the job hangs.
package coll
