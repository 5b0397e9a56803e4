package coll

import "github.com/halo-mpi/halo/internal/shmfmt"

const (
	// SlotPayload is the longest Reduce that goes through a slot, in bytes, and the
	// longest of the collectives of several nodes.
	SlotPayload = shmfmt.SlotPayload
	// SlotPair is up to what two members use their slot, in bytes: the second copy is
	// cheap only between cores that share a cache. Where they do not, 64 KiB through
	// the slot take twice as long as when the other fetches them from where they are.
	SlotPair = 16 << 10
	// SlotBlock bounds the blocks of an Alltoall through a slot, of which everybody
	// has his own: longer ones, which leave the caches anyway, are better copied once.
	SlotBlock = 256 << 10
)

// slotMax is up to how many bytes each of the members may give to a blocking
// collective of the kind that goes through a slot. There what they give is copied in
// once and copied out by everybody at the same time, without a word between any two:
// with many members that is always the better way.
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
