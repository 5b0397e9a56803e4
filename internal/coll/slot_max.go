package coll

import "github.com/halo-mpi/halo/internal/shmfmt"

const (
	// SlotPayload is the longest Reduce that goes through a slot, in bytes, and the
	// longest of the collectives of several nodes.
	SlotPayload = shmfmt.SlotPayload
	// SlotPair is the longest contribution of two members to their slot, in bytes. The second
	// copy is cheap only between cores that share a cache. Between other cores, 64 KiB through
	// the slot take twice as long as when the receiver copies them directly from the sender.
	SlotPair = 16 << 10
	// SlotBlock bounds the blocks of an Alltoall through a slot, in which each member has
	// different blocks for all others. Longer blocks do not stay in the caches, so one copy is
	// faster than two.
	SlotBlock = 256 << 10
)

// slotMax returns how many bytes each member may give to a blocking collective of the kind
// through a slot. Each member copies its contribution in once, and all members copy the
// contributions out at the same time, without a message between any two: with many members this
// is always faster.
func slotMax(k Kind, ranks int) int {
	switch {
	case k == Barrier || k == Reduce:
		return SlotPayload
	case ranks == 2:
		return SlotPair
	case k == Bcast:
		return streamMax
	case k == Alltoall && ranks <= shmfmt.StageSize/shmfmt.Line: // or its parts have no room
		return SlotBlock * ranks
	case k == Allreduce || k == Allgather:
		return none
	}
	return 0
}
