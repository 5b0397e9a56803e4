package kind

import "github.com/halo-mpi/halo/internal/call"

// Kind is a kind of collective.
type Kind uint8

// The kinds.
const (
	Barrier Kind = iota
	Bcast
	Reduce
	Allreduce
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	Alltoallw
	Scan
	Exscan
	ReduceScatter
	ReduceScatterBlock
	NeighborAllgather
	NeighborAllgatherv
	NeighborAlltoall
	NeighborAlltoallv
	NeighborAlltoallw
	kinds
)

// Form is a form of the calls of a kind.
type Form uint8

// The forms.
const (
	Blocking    Form = iota
	Nonblocking      // returns the request of a collective that has begun
	Persistent       // returns a request that can start the collective many times
	Forms
)

// Kinds is the number of kinds: they are 0 to Kinds-1.
const Kinds = int(kinds)

// String is the name of the blocking call in package mpi.
func (k Kind) String() string {
	if k >= kinds {
		return "a collective"
	}
	return k.Number().Go()
}

// Number is the blocking call.
func (k Kind) Number() call.Number { return k.In(Blocking) }

// In is the call in a form; None of a kind that does not exist.
func (k Kind) In(f Form) call.Number {
	if k >= kinds || f >= Forms {
		return call.None
	}
	return [kinds][Forms]call.Number{
		Barrier:            {call.Barrier, call.Ibarrier, call.BarrierInit},
		Bcast:              {call.Bcast, call.Ibcast, call.BcastInit},
		Reduce:             {call.Reduce, call.Ireduce, call.ReduceInit},
		Allreduce:          {call.Allreduce, call.Iallreduce, call.AllreduceInit},
		Gather:             {call.Gather, call.Igather, call.GatherInit},
		Gatherv:            {call.Gatherv, call.Igatherv, call.GathervInit},
		Scatter:            {call.Scatter, call.Iscatter, call.ScatterInit},
		Scatterv:           {call.Scatterv, call.Iscatterv, call.ScattervInit},
		Allgather:          {call.Allgather, call.Iallgather, call.AllgatherInit},
		Allgatherv:         {call.Allgatherv, call.Iallgatherv, call.AllgathervInit},
		Alltoall:           {call.Alltoall, call.Ialltoall, call.AlltoallInit},
		Alltoallv:          {call.Alltoallv, call.Ialltoallv, call.AlltoallvInit},
		Alltoallw:          {call.Alltoallw, call.Ialltoallw, call.AlltoallwInit},
		Scan:               {call.Scan, call.Iscan, call.ScanInit},
		Exscan:             {call.Exscan, call.Iexscan, call.ExscanInit},
		ReduceScatter:      {call.ReduceScatter, call.IreduceScatter, call.ReduceScatterInit},
		ReduceScatterBlock: {call.ReduceScatterBlock, call.IreduceScatterBlock, call.ReduceScatterBlockInit},
		NeighborAllgather:  {call.NeighborAllgather, call.IneighborAllgather, call.NeighborAllgatherInit},
		NeighborAllgatherv: {call.NeighborAllgatherv, call.IneighborAllgatherv, call.NeighborAllgathervInit},
		NeighborAlltoall:   {call.NeighborAlltoall, call.IneighborAlltoall, call.NeighborAlltoallInit},
		NeighborAlltoallv:  {call.NeighborAlltoallv, call.IneighborAlltoallv, call.NeighborAlltoallvInit},
		NeighborAlltoallw:  {call.NeighborAlltoallw, call.IneighborAlltoallw, call.NeighborAlltoallwInit},
	}[k][f]
}

// Reduces reports whether operands are combined.
func (k Kind) Reduces() bool {
	switch k {
	case Reduce, Allreduce, Scan, Exscan, ReduceScatter, ReduceScatterBlock:
		return true
	}
	return false
}

// Neighborhood reports whether members exchange with their neighbours in the topology.
func (k Kind) Neighborhood() bool { return k >= NeighborAllgather }

// Rooted reports whether one member is the root.
func (k Kind) Rooted() bool {
	switch k {
	case Bcast, Reduce, Gather, Gatherv, Scatter, Scatterv:
		return true
	}
	return false
}
