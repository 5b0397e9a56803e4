package coll

// Algorithm is a way to carry out a collective by messages.
type Algorithm uint8

// The algorithms; each stands in a file of its own. Auto is none: the choice is free.
const (
	Auto Algorithm = iota
	BarrierDissemination
	BcastBinomial
	BcastChain
	ReduceBinomial
	ReduceScatter
	AllreduceDoubling
	AllreduceRing
	GatherBinomial
	GatherLinear
	AllgatherBruck
)

// Kind is a kind of collective.
type Kind uint8

// The kinds.
const (
	Barrier Kind = iota
	Bcast
	Reduce
	Allreduce
	Gather
	Allgather
	kinds
)

// collective names what the algorithm carries out.
func (a Algorithm) collective() string {
	switch a {
	case BarrierDissemination:
		return "Barrier"
	case BcastBinomial, BcastChain:
		return "Bcast"
	case ReduceBinomial, ReduceScatter:
		return "Reduce"
	case AllreduceDoubling, AllreduceRing:
		return "Allreduce"
	case GatherBinomial, GatherLinear:
		return "Gather"
	case AllgatherBruck:
		return "Allgather"
	}
	return "a collective"
}

// run starts the round s.round of s, and reports whether there are more.
func (a Algorithm) run(s *schedule) bool {
	switch a {
	case BarrierDissemination:
		return dissemination(s)
	case BcastBinomial:
		return bcastBinomial(s)
	case BcastChain:
		return bcastChain(s)
	case ReduceBinomial:
		return reduceBinomial(s)
	case ReduceScatter:
		return reduceScatter(s)
	case AllreduceDoubling:
		return allreduceDoubling(s)
	case AllreduceRing:
		return allreduceRing(s)
	case GatherBinomial:
		return gatherBinomial(s)
	case GatherLinear:
		return gatherLinear(s)
	case AllgatherBruck:
		return allgatherBruck(s)
	}
	return false
}

// choose is the table of algorithms: by kind, by size in bytes (of the buffer of
// a bcast or reduction, of one contribution to a gather) and by number of ranks.
func (e *Engine) choose(k Kind, size, ranks int) Algorithm {
	if a := e.forced.Algorithm[k]; a != Auto {
		return a
	}
	switch k {
	case Barrier:
		return BarrierDissemination
	case Bcast:
		if size < 256<<10 || ranks <= 2 {
			return BcastBinomial
		}
		return BcastChain
	case Reduce:
		if size < 64<<10 || size/ranks < 4<<10 {
			return ReduceBinomial
		}
		return ReduceScatter
	case Allreduce:
		if size < 32<<10 || size/ranks < 4<<10 {
			return AllreduceDoubling
		}
		return AllreduceRing
	case Gather:
		if size < 4<<10 {
			return GatherBinomial
		}
		return GatherLinear
	default:
		return AllgatherBruck
	}
}

// String is the name of the algorithm.
func (a Algorithm) String() string {
	switch a {
	case Auto:
		return "auto"
	case BarrierDissemination:
		return "barrier-dissemination"
	case BcastBinomial:
		return "bcast-binomial"
	case BcastChain:
		return "bcast-chain"
	case ReduceBinomial:
		return "reduce-binomial"
	case ReduceScatter:
		return "reduce-scatter"
	case AllreduceDoubling:
		return "allreduce-doubling"
	case AllreduceRing:
		return "allreduce-ring"
	case GatherBinomial:
		return "gather-binomial"
	case GatherLinear:
		return "gather-linear"
	case AllgatherBruck:
		return "allgather-bruck"
	}
	return "no algorithm"
}
