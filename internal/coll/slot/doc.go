// Package slot carries out collectives through memory that all members share: a part of the control segment of a node,
// which is called a slot. Package coll opens a slot for the members of a communicator, or for those of them on one node,
// and decides which collectives go through it. A Slot knows its own rank and the processes of the members, but neither
// communicators nor the engine, but the lists of neighbours (comm.Neighbors): what it has to ask when a call waits for
// long, or fails, it asks its Owner.
//
// These are the latency paths of short collectives. A collective of a few bytes takes a fraction of a microsecond, of which
// a call of an interface or an allocation would be a large part. Therefore the methods of Slot are straight code,
// without the lock of the process.
//
// Code in C advances the same state: see package coll, Descriptor, and shmfmt.SlotState.
package slot
