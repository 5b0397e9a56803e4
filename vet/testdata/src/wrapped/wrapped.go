// Package wrapped calls the generic functions of another package.
package wrapped

import (
	"example.com/calls/share"

	"github.com/halo-mpi/halo/mpi"
)

func calls(c *mpi.Comm, s []string) {
	share.All(c, s)       // want `share.All, which calls mpi.Bcast: string is a string`
	share.Pairs(c, "", 1) // K does not travel
	share.Pairs(c, 1, "") // want `share.Pairs, which calls mpi.Bcast: string is a string`
	share.Either(c, s)    // want `share.Either, which calls mpi.Send: string is a string`
	share.Branches(c, s)  // want `share.Branches, which calls All, which calls mpi.Bcast: string is a string`
	share.Perhaps(c, s)
	share.Some(c, s)
	share.Count(c, s)
	share.All(c, []int{1})
	var store share.Store[string]
	store.Local = s
}
