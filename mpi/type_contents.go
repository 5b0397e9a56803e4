package mpi

import "github.com/halo-mpi/halo/internal/dtype"

// Combiner tells which call has made a type.
//
// C: MPI_COMBINER_NAMED and so on, section 5.1.13.
type Combiner int

// The combiners.
//
// C: MPI_COMBINER_NAMED and so on, section 5.1.13.
const (
	CombinerNamed         = Combiner(dtype.CombinerNamed) // predefined
	CombinerDup           = Combiner(dtype.CombinerDup)
	CombinerContiguous    = Combiner(dtype.CombinerContiguous)
	CombinerVector        = Combiner(dtype.CombinerVector)
	CombinerHvector       = Combiner(dtype.CombinerHvector)
	CombinerIndexed       = Combiner(dtype.CombinerIndexed)
	CombinerHindexed      = Combiner(dtype.CombinerHindexed)
	CombinerIndexedBlock  = Combiner(dtype.CombinerIndexedBlock)
	CombinerHindexedBlock = Combiner(dtype.CombinerHindexedBlock)
	CombinerStruct        = Combiner(dtype.CombinerStruct)
	CombinerSubarray      = Combiner(dtype.CombinerSubarray)
	CombinerDarray        = Combiner(dtype.CombinerDarray)
	CombinerF90Real       = Combiner(dtype.CombinerF90Real)
	CombinerF90Complex    = Combiner(dtype.CombinerF90Complex)
	CombinerF90Integer    = Combiner(dtype.CombinerF90Integer)
	CombinerResized       = Combiner(dtype.CombinerResized)
	CombinerValueIndex    = Combiner(dtype.CombinerValueIndex)
)

// String is the standard's name without its beginning, in lower case.
//
// C: MPI_COMBINER_NAMED and so on, section 5.1.13.
func (c Combiner) String() string { return dtype.Combiner(c).String() }

// Envelope is how a type was made, and how long the lists of its Contents are.
//
// C: MPI_Type_get_envelope, section 5.1.13.
type Envelope struct {
	Combiner  Combiner
	Integers  int
	Addresses int
	Types     int
}

// Envelope tells which call has made the type, whatever it is equal to, and with
// how many arguments.
//
// C: MPI_Type_get_envelope, section 5.1.13.
func (d Datatype) Envelope() (Envelope, error) {
	t, err := d.use("Envelope")
	if err != nil {
		return Envelope{}, err
	}
	c := t.Contents()
	return Envelope{Combiner(c.Combiner), len(c.Integers), len(c.Addrs), len(c.Types)}, nil
}

// Contents is the arguments of the call that has made a type: how to make one like
// it. The order is that of the standard's tables, for TypeDarray with the arguments
// in C.
//
// C: MPI_Type_get_contents, section 5.1.13.
type Contents struct {
	Combiner  Combiner
	Integers  []int // counts, lengths, and displacements and strides in elements
	Addresses []int // displacements, strides and bounds in bytes
	Counts    []int // of LargeContents: what stands there for most of both
	Types     []Datatype
}

// Contents returns the arguments of the call that has made the type. Types among
// them that are predefined, or of TypeOf, are the same as ever; others are handles
// of their own, to be freed, that share name and commitment with those of the call.
// Predefined types have none: ErrType, but for those of TypeF90Real and the like.
//
// C: MPI_Type_get_contents, section 5.1.13.
func (d Datatype) Contents() (Contents, error) { return d.contents("Contents", (*dtype.Type).Contents) }

// LargeContents is Contents for who describes the type to C by the calls with large
// counts, which have counts and displacements, in elements and bytes, in one list,
// Counts, and no others but what is int there, too.
//
// C: MPI_Type_get_contents_c, section 5.1.13.
func (internals) LargeContents(d Datatype) (Contents, error) {
	return d.contents("LargeContents", (*dtype.Type).LargeContents)
}

func (d Datatype) contents(call string, of func(*dtype.Type) dtype.Contents) (Contents, error) {
	t, err := d.use(call)
	if err != nil {
		return Contents{}, err
	}
	c := of(t)
	if c.Combiner == dtype.CombinerNamed {
		return Contents{}, typeError(ErrType, call, t, "the type is predefined and has not been made of others")
	}
	out := Contents{Combiner: Combiner(c.Combiner), Integers: narrow(c.Integers), Addresses: narrow(c.Addrs), Counts: narrow(c.Counts)}
	for _, t := range c.Types {
		out.Types = append(out.Types, types().handle(t))
	}
	return out, nil
}

// narrow is a list of the engine as Go has them.
func narrow(list []int64) []int {
	n := make([]int, len(list))
	for i, v := range list {
		n[i] = int(v)
	}
	return n
}
