package dtype

// Combiner names the constructor of a type, with the value of the MPI-5 ABI.
type Combiner int

// The combiners.
const (
	CombinerNamed         Combiner = 101
	CombinerDup           Combiner = 102
	CombinerContiguous    Combiner = 103
	CombinerVector        Combiner = 104
	CombinerHvector       Combiner = 105
	CombinerIndexed       Combiner = 106
	CombinerHindexed      Combiner = 107
	CombinerIndexedBlock  Combiner = 108
	CombinerHindexedBlock Combiner = 109
	CombinerStruct        Combiner = 110
	CombinerSubarray      Combiner = 111
	CombinerDarray        Combiner = 112
	CombinerF90Real       Combiner = 113
	CombinerF90Complex    Combiner = 114
	CombinerF90Integer    Combiner = 115
	CombinerResized       Combiner = 116
	CombinerValueIndex    Combiner = 117
)

// String is the standard's name without MPI_COMBINER_, in lower case.
func (c Combiner) String() string {
	names := [...]string{
		"named", "dup", "contiguous", "vector", "hvector", "indexed", "hindexed", "indexed_block",
		"hindexed_block", "struct", "subarray", "darray", "f90_real", "f90_complex", "f90_integer",
		"resized", "value_index",
	}
	if i := int(c - CombinerNamed); i >= 0 && i < len(names) {
		return names[i]
	}
	return "no combiner"
}

// Undefined is MPI_UNDEFINED, for an omitted precision or range.
const Undefined = -32766

// Order is the order of the dimensions of an array.
type Order int

// The orders: the last dimension varies fastest, or the first.
const (
	OrderC       Order = 0xC
	OrderFortran Order = 0xF
)

// Distribution is how Darray distributes a dimension over processes.
type Distribution int

// The distributions, and the argument that leaves the size of blocks to the distribution.
const (
	DistributeNone    Distribution = 16
	DistributeBlock   Distribution = 17
	DistributeCyclic  Distribution = 18
	DistributeDefault              = 19 // MPI_DISTRIBUTE_DFLT_DARG
)
