package coll

import "github.com/halo-mpi/halo/internal/coll/kind"

// The kinds of collectives, their forms and the calls of programs are those of package kind. They are constants here,
// too, for callers of the engine.
type (
	Kind = kind.Kind
	Form = kind.Form
	Call = kind.Call
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

// The calls that are not of a kind and a form.
const (
	CallDup             = kind.CallDup
	CallIdup            = kind.CallIdup
	CallSplit           = kind.CallSplit
	CallCreate          = kind.CallCreate
	CallIntercommCreate = kind.CallIntercommCreate
	CallMerge           = kind.CallMerge
	CallFree            = kind.CallFree
	CallWinFree         = kind.CallWinFree
	CallFinalize        = kind.CallFinalize
	CallAccept          = kind.CallAccept
	CallConnect         = kind.CallConnect
)

// CallOf returns the call of a kind in a form.
func CallOf(k Kind, f Form) Call { return kind.CallOf(k, f) }
