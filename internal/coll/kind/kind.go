package kind

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
	switch k {
	case Barrier:
		return "Barrier"
	case Bcast:
		return "Bcast"
	case Reduce:
		return "Reduce"
	case Allreduce:
		return "Allreduce"
	case Gather:
		return "Gather"
	case Gatherv:
		return "Gatherv"
	case Scatter:
		return "Scatter"
	case Scatterv:
		return "Scatterv"
	case Allgather:
		return "Allgather"
	case Allgatherv:
		return "Allgatherv"
	case Alltoall:
		return "Alltoall"
	case Alltoallv:
		return "Alltoallv"
	case Alltoallw:
		return "Alltoallw"
	case Scan:
		return "Scan"
	case Exscan:
		return "Exscan"
	case ReduceScatter:
		return "ReduceScatter"
	case ReduceScatterBlock:
		return "ReduceScatterBlock"
	case NeighborAllgather:
		return "NeighborAllgather"
	case NeighborAllgatherv:
		return "NeighborAllgatherv"
	case NeighborAlltoall:
		return "NeighborAlltoall"
	case NeighborAlltoallv:
		return "NeighborAlltoallv"
	case NeighborAlltoallw:
		return "NeighborAlltoallw"
	}
	return "a collective"
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
