package coll

import "github.com/halo-mpi/halo/internal/coll/kind"

// The kinds of collectives and their forms are those of package kind. They are constants here, too, for callers of
// the engine.
type (
	Kind = kind.Kind
	Form = kind.Form
)

// The kinds.
const (
	Barrier            = kind.Barrier
	Bcast              = kind.Bcast
	Reduce             = kind.Reduce
	Allreduce          = kind.Allreduce
	Gather             = kind.Gather
	Gatherv            = kind.Gatherv
	Scatter            = kind.Scatter
	Scatterv           = kind.Scatterv
	Allgather          = kind.Allgather
	Allgatherv         = kind.Allgatherv
	Alltoall           = kind.Alltoall
	Alltoallv          = kind.Alltoallv
	Alltoallw          = kind.Alltoallw
	Scan               = kind.Scan
	Exscan             = kind.Exscan
	ReduceScatter      = kind.ReduceScatter
	ReduceScatterBlock = kind.ReduceScatterBlock
	NeighborAllgather  = kind.NeighborAllgather
	NeighborAllgatherv = kind.NeighborAllgatherv
	NeighborAlltoall   = kind.NeighborAlltoall
	NeighborAlltoallv  = kind.NeighborAlltoallv
	NeighborAlltoallw  = kind.NeighborAlltoallw
	Kinds              = kind.Kinds
)

// The forms.
const (
	Blocking    = kind.Blocking
	Nonblocking = kind.Nonblocking
	Persistent  = kind.Persistent
	Forms       = kind.Forms
)
