package coll

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

// The algorithms. Each has a file of its own, which it shares only with the same algorithm for
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
	algorithms
)

// entry describes an algorithm.
type entry struct {
	kind Kind
	name string                 // unique among the algorithms of its kind
	step func(s *schedule) bool // starts round s.round, and reports whether there are more
}

func (a Algorithm) entry() entry {
	switch a {
	case BarrierDissemination:
		return entry{Barrier, "dissemination", dissemination}
	case BarrierLeaders:
		return entry{Barrier, "leaders", barrierLeaders}
	case BcastBinomial:
		return entry{Bcast, "binomial", bcastBinomial}
	case BcastChain:
		return entry{Bcast, "chain", bcastChain}
	case BcastLinear:
		return entry{Bcast, "linear", bcastLinear}
	case BcastLeaders:
		return entry{Bcast, "leaders", bcastLeaders}
	case ReduceBinomial:
		return entry{Reduce, "binomial", reduceBinomial}
	case ReduceRing:
		return entry{Reduce, "ring", reduceRing}
	case ReduceDirect:
		return entry{Reduce, "direct", reduceDirect}
	case ReduceLeaders:
		return entry{Reduce, "leaders", reduceLeaders}
	case AllreduceDoubling:
		return entry{Allreduce, "doubling", allreduceDoubling}
	case AllreduceRing:
		return entry{Allreduce, "ring", allreduceRing}
	case AllreduceDirect:
		return entry{Allreduce, "direct", allreduceDirect}
	case AllreduceLeaders:
		return entry{Allreduce, "leaders", allreduceLeaders}
	case GatherBinomial:
		return entry{Gather, "binomial", gatherBinomial}
	case GatherLinear:
		return entry{Gather, "linear", gatherLinear}
	case GatherLeaders:
		return entry{Gather, "leaders", gatherLeaders}
	case GathervLinear:
		return entry{Gatherv, "linear", gatherLinear}
	case ScatterBinomial:
		return entry{Scatter, "binomial", scatterBinomial}
	case ScatterLinear:
		return entry{Scatter, "linear", scatterLinear}
	case ScatterLeaders:
		return entry{Scatter, "leaders", scatterLeaders}
	case ScattervLinear:
		return entry{Scatterv, "linear", scatterLinear}
	case AllgatherBruck:
		return entry{Allgather, "bruck", allgatherBruck}
	case AllgatherRing:
		return entry{Allgather, "ring", allgatherRing}
	case AllgatherDirect:
		return entry{Allgather, "direct", allgatherDirect}
	case AllgatherLeaders:
		return entry{Allgather, "leaders", allgatherLeaders}
	case AllgathervRing:
		return entry{Allgatherv, "ring", allgatherRing}
	case AllgathervDirect:
		return entry{Allgatherv, "direct", allgatherDirect}
	case AlltoallBruck:
		return entry{Alltoall, "bruck", alltoallBruck}
	case AlltoallPairwise:
		return entry{Alltoall, "pairwise", alltoallPairwise}
	case AlltoallDirect:
		return entry{Alltoall, "direct", alltoallDirect}
	case AlltoallvPairwise:
		return entry{Alltoallv, "pairwise", alltoallPairwise}
	case AlltoallvDirect:
		return entry{Alltoallv, "direct", alltoallDirect}
	case AlltoallwPairwise:
		return entry{Alltoallw, "pairwise", alltoallPairwise}
	case AlltoallwDirect:
		return entry{Alltoallw, "direct", alltoallDirect}
	case ScanDoubling:
		return entry{Scan, "doubling", scanDoubling}
	case ScanChain:
		return entry{Scan, "chain", scanChain}
	case ExscanDoubling:
		return entry{Exscan, "doubling", scanDoubling}
	case ExscanChain:
		return entry{Exscan, "chain", scanChain}
	case ReduceScatterHalving:
		return entry{ReduceScatter, "halving", reduceScatterHalving}
	case ReduceScatterDirect:
		return entry{ReduceScatter, "direct", reduceScatterDirect}
	case ReduceScatterBlockHalving:
		return entry{ReduceScatterBlock, "halving", reduceScatterHalving}
	case ReduceScatterBlockDirect:
		return entry{ReduceScatterBlock, "direct", reduceScatterDirect}
	case NeighborAllgatherDirect:
		return entry{NeighborAllgather, "direct", neighborDirect}
	case NeighborAllgathervDirect:
		return entry{NeighborAllgatherv, "direct", neighborDirect}
	case NeighborAlltoallDirect:
		return entry{NeighborAlltoall, "direct", neighborDirect}
	case NeighborAlltoallvDirect:
		return entry{NeighborAlltoallv, "direct", neighborDirect}
	case NeighborAlltoallwDirect:
		return entry{NeighborAlltoallw, "direct", neighborDirect}
	}
	return entry{Kind(Kinds), "auto", nil}
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

// leads reports whether the algorithm uses leaders: see division.
func (a Algorithm) leads() bool {
	switch a {
	case BarrierLeaders, BcastLeaders, ReduceLeaders, AllreduceLeaders, GatherLeaders, ScatterLeaders, AllgatherLeaders:
		return true
	}
	return false
}

// Kind is the kind of collective that the algorithm carries out.
func (a Algorithm) Kind() Kind { return a.entry().kind }

// Name is the name of the algorithm, unique among those of its kind.
func (a Algorithm) Name() string { return a.entry().name }

// String is the kind and the name.
func (a Algorithm) String() string {
	if a == Auto || a >= algorithms {
		return a.Name()
	}
	return a.Kind().String() + " " + a.Name()
}

// Algorithms lists the algorithms of a kind.
func Algorithms(k Kind) []Algorithm {
	var list []Algorithm
	for a := Auto + 1; a < algorithms; a++ {
		if a.Kind() == k {
			list = append(list, a)
		}
	}
	return list
}
