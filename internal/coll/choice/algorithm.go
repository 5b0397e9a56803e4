package choice

import "github.com/halo-mpi/halo/internal/coll/kind"

// Algorithm is a way to carry out a collective by messages.
//
// The algorithms "direct" and "linear" exchange with many members at once, in one or two rounds. They suit
// members on one node: each member copies what it needs directly from its source. With fewer
// cores than ranks it matters most that there are few rounds, since in each round a member may
// wait for another one to get a core. Rings and chains send each byte once, to a neighbour; they
// suit long messages between many members. Trees, doubling and Bruck take log2 n rounds; they
// suit short messages.
//
// The algorithms "leaders" suit members on several nodes: data crosses the network once for a
// node, see division. Short blocking collectives use a slot on each node besides, see across.
type Algorithm uint8

// The end. Each has a file of its own, which it shares only with the same algorithm for
// blocks of unequal length. Auto is not an algorithm: it leaves the choice to the table.
const (
	Auto Algorithm = iota
	BarrierDissemination
	BarrierLeaders
	BcastBinomial
	BcastChain
	BcastLinear
	BcastLeaders
	ReduceBinomial
	ReduceRing
	ReduceDirect
	ReduceLeaders
	AllreduceDoubling
	AllreduceRing
	AllreduceDirect
	AllreduceLeaders
	GatherBinomial
	GatherLinear
	GatherLeaders
	GathervLinear
	ScatterBinomial
	ScatterLinear
	ScatterLeaders
	ScattervLinear
	AllgatherBruck
	AllgatherRing
	AllgatherDirect
	AllgatherLeaders
	AllgathervRing
	AllgathervDirect
	AlltoallBruck
	AlltoallPairwise
	AlltoallDirect
	AlltoallvPairwise
	AlltoallvDirect
	AlltoallwPairwise
	AlltoallwDirect
	ScanDoubling
	ScanChain
	ExscanDoubling
	ExscanChain
	ReduceScatterHalving
	ReduceScatterDirect
	ReduceScatterBlockHalving
	ReduceScatterBlockDirect
	NeighborAllgatherDirect
	NeighborAllgathervDirect
	NeighborAlltoallDirect
	NeighborAlltoallvDirect
	NeighborAlltoallwDirect
	end
)

// entry describes an algorithm.
type entry struct {
	kind kind.Kind
	name string // unique among the algorithms of its kind
}

func (a Algorithm) entry() entry {
	switch a {
	case BarrierDissemination:
		return entry{kind.Barrier, "dissemination"}
	case BarrierLeaders:
		return entry{kind.Barrier, "leaders"}
	case BcastBinomial:
		return entry{kind.Bcast, "binomial"}
	case BcastChain:
		return entry{kind.Bcast, "chain"}
	case BcastLinear:
		return entry{kind.Bcast, "linear"}
	case BcastLeaders:
		return entry{kind.Bcast, "leaders"}
	case ReduceBinomial:
		return entry{kind.Reduce, "binomial"}
	case ReduceRing:
		return entry{kind.Reduce, "ring"}
	case ReduceDirect:
		return entry{kind.Reduce, "direct"}
	case ReduceLeaders:
		return entry{kind.Reduce, "leaders"}
	case AllreduceDoubling:
		return entry{kind.Allreduce, "doubling"}
	case AllreduceRing:
		return entry{kind.Allreduce, "ring"}
	case AllreduceDirect:
		return entry{kind.Allreduce, "direct"}
	case AllreduceLeaders:
		return entry{kind.Allreduce, "leaders"}
	case GatherBinomial:
		return entry{kind.Gather, "binomial"}
	case GatherLinear:
		return entry{kind.Gather, "linear"}
	case GatherLeaders:
		return entry{kind.Gather, "leaders"}
	case GathervLinear:
		return entry{kind.Gatherv, "linear"}
	case ScatterBinomial:
		return entry{kind.Scatter, "binomial"}
	case ScatterLinear:
		return entry{kind.Scatter, "linear"}
	case ScatterLeaders:
		return entry{kind.Scatter, "leaders"}
	case ScattervLinear:
		return entry{kind.Scatterv, "linear"}
	case AllgatherBruck:
		return entry{kind.Allgather, "bruck"}
	case AllgatherRing:
		return entry{kind.Allgather, "ring"}
	case AllgatherDirect:
		return entry{kind.Allgather, "direct"}
	case AllgatherLeaders:
		return entry{kind.Allgather, "leaders"}
	case AllgathervRing:
		return entry{kind.Allgatherv, "ring"}
	case AllgathervDirect:
		return entry{kind.Allgatherv, "direct"}
	case AlltoallBruck:
		return entry{kind.Alltoall, "bruck"}
	case AlltoallPairwise:
		return entry{kind.Alltoall, "pairwise"}
	case AlltoallDirect:
		return entry{kind.Alltoall, "direct"}
	case AlltoallvPairwise:
		return entry{kind.Alltoallv, "pairwise"}
	case AlltoallvDirect:
		return entry{kind.Alltoallv, "direct"}
	case AlltoallwPairwise:
		return entry{kind.Alltoallw, "pairwise"}
	case AlltoallwDirect:
		return entry{kind.Alltoallw, "direct"}
	case ScanDoubling:
		return entry{kind.Scan, "doubling"}
	case ScanChain:
		return entry{kind.Scan, "chain"}
	case ExscanDoubling:
		return entry{kind.Exscan, "doubling"}
	case ExscanChain:
		return entry{kind.Exscan, "chain"}
	case ReduceScatterHalving:
		return entry{kind.ReduceScatter, "halving"}
	case ReduceScatterDirect:
		return entry{kind.ReduceScatter, "direct"}
	case ReduceScatterBlockHalving:
		return entry{kind.ReduceScatterBlock, "halving"}
	case ReduceScatterBlockDirect:
		return entry{kind.ReduceScatterBlock, "direct"}
	case NeighborAllgatherDirect:
		return entry{kind.NeighborAllgather, "direct"}
	case NeighborAllgathervDirect:
		return entry{kind.NeighborAllgatherv, "direct"}
	case NeighborAlltoallDirect:
		return entry{kind.NeighborAlltoall, "direct"}
	case NeighborAlltoallvDirect:
		return entry{kind.NeighborAlltoallv, "direct"}
	case NeighborAlltoallwDirect:
		return entry{kind.NeighborAlltoallw, "direct"}
	}
	return entry{kind.Kind(kind.Kinds), "auto"}
}

// keepsOrder reports whether operands are combined in the order of the ranks. A ring begins with
// a different rank for each share; halving begins with ranks far apart.
func (a Algorithm) keepsOrder() bool {
	switch a {
	case ReduceRing, AllreduceRing, ReduceScatterHalving, ReduceScatterBlockHalving:
		return false
	}
	return true
}

// Leads reports whether the algorithm uses leaders: see division in package coll.
func (a Algorithm) Leads() bool {
	switch a {
	case BarrierLeaders, BcastLeaders, ReduceLeaders, AllreduceLeaders, GatherLeaders, ScatterLeaders, AllgatherLeaders:
		return true
	}
	return false
}

// Kind is the kind of collective that the algorithm carries out.
func (a Algorithm) Kind() kind.Kind { return a.entry().kind }

// Name is the name of the algorithm, unique among those of its kind.
func (a Algorithm) Name() string { return a.entry().name }

// String is the kind and the name.
func (a Algorithm) String() string {
	if a == Auto || a >= end {
		return a.Name()
	}
	return a.Kind().String() + " " + a.Name()
}

// Algorithms lists the algorithms of a kind.
func Algorithms(k kind.Kind) []Algorithm {
	var list []Algorithm
	for a := Auto + 1; a < end; a++ {
		if a.Kind() == k {
			list = append(list, a)
		}
	}
	return list
}
