package slot

import (
	"math"

	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Payload is the longest Reduce that goes through a slot, in bytes, and the
// longest of the collectives of several nodes.
const Payload = shmfmt.SlotPayload

// Max returns how many bytes each member may give to a blocking collective of the kind
// through a slot. Each member copies its contribution in once, and all members copy the
// contributions out at the same time, without a message between any two. The two copies take less
// time than one copy by the kernel, which looks up each page of 4 KiB. This holds for two members and
// for many, and for data that is in the caches and data that is not.
func Max(k kind.Kind, ranks int) int {
	switch {
	case k == kind.Barrier || k == kind.Reduce:
		return Payload
	case k == kind.Bcast:
		return streamMax
	case k == kind.Allreduce || k == kind.Allgather, k == kind.Alltoall && ranks <= shmfmt.StageSize/shmfmt.Line: // or its parts have no room
		return math.MaxInt
	}
	return 0
}
