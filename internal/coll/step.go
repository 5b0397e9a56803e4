package coll

import "github.com/halo-mpi/halo/internal/coll/choice"

// A step starts round s.round of an algorithm, and reports whether there are more.
type step func(s *schedule) bool

// stepOf returns the step of an algorithm.
func stepOf(a choice.Algorithm) step {
	switch a {
	case choice.BarrierDissemination:
		return dissemination
	case choice.BarrierLeaders:
		return barrierLeaders
	case choice.BcastBinomial:
		return bcastBinomial
	case choice.BcastChain:
		return bcastChain
	case choice.BcastLinear:
		return bcastLinear
	case choice.BcastLeaders:
		return bcastLeaders
	case choice.ReduceBinomial:
		return reduceBinomial
	case choice.ReduceRing:
		return reduceRing
	case choice.ReduceDirect:
		return reduceDirect
	case choice.ReduceLeaders:
		return reduceLeaders
	case choice.AllreduceDoubling:
		return allreduceDoubling
	case choice.AllreduceRing:
		return allreduceRing
	case choice.AllreduceDirect:
		return allreduceDirect
	case choice.AllreduceLeaders:
		return allreduceLeaders
	case choice.GatherBinomial:
		return gatherBinomial
	case choice.GatherLinear, choice.GathervLinear:
		return gatherLinear
	case choice.GatherLeaders:
		return gatherLeaders
	case choice.ScatterBinomial:
		return scatterBinomial
	case choice.ScatterLinear, choice.ScattervLinear:
		return scatterLinear
	case choice.ScatterLeaders:
		return scatterLeaders
	case choice.AllgatherBruck:
		return allgatherBruck
	case choice.AllgatherRing, choice.AllgathervRing:
		return allgatherRing
	case choice.AllgatherDirect, choice.AllgathervDirect:
		return allgatherDirect
	case choice.AllgatherLeaders:
		return allgatherLeaders
	case choice.AlltoallBruck:
		return alltoallBruck
	case choice.AlltoallPairwise, choice.AlltoallvPairwise, choice.AlltoallwPairwise:
		return alltoallPairwise
	case choice.AlltoallDirect, choice.AlltoallvDirect, choice.AlltoallwDirect:
		return alltoallDirect
	case choice.ScanDoubling, choice.ExscanDoubling:
		return scanDoubling
	case choice.ScanChain, choice.ExscanChain:
		return scanChain
	case choice.ReduceScatterHalving, choice.ReduceScatterBlockHalving:
		return reduceScatterHalving
	case choice.ReduceScatterDirect, choice.ReduceScatterBlockDirect:
		return reduceScatterDirect
	case choice.NeighborAllgatherDirect, choice.NeighborAllgathervDirect, choice.NeighborAlltoallDirect, choice.NeighborAlltoallvDirect, choice.NeighborAlltoallwDirect:
		return neighborDirect
	}
	return nil // of Auto
}
