package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Combiner is the call that made a type.
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

// String is the standard's name without the prefix, in lower case.
//
// C: MPI_COMBINER_NAMED and so on, section 5.1.13.
func (c Combiner) String() string { return dtype.Combiner(c).String() }

// Envelope is the call that made a type, and the lengths of the lists of its Contents.
//
// C: MPI_Type_get_envelope, section 5.1.13.
type Envelope struct {
	Combiner  Combiner
	Integers  int
	Addresses int
	Types     int
}

// Envelope returns which call made the type, even if another call makes an equal type, and the
// number of its arguments.
//
// C: MPI_Type_get_envelope, section 5.1.13.
func (d Datatype) Envelope() (Envelope, error) {
	t, err := d.use(call.TypeGetEnvelope)
	if err != nil {
		return Envelope{}, err
	}
	c := t.Contents()
	return Envelope{Combiner(c.Combiner), len(c.Integers), len(c.Addrs), len(c.Types)}, nil
}

// Contents is the arguments of the call that made a type, from which an equal type can be made.
// The order is that of the standard's tables; for TypeDarray, that of the arguments in C.
//
// C: MPI_Type_get_contents, section 5.1.13.
type Contents struct {
	Combiner  Combiner
	Integers  []int // counts, lengths, and displacements and strides in elements
	Addresses []int // displacements, strides and bounds in bytes
	Counts    []int // of LargeContents: takes the place of most of Integers and of Addresses
	Types     []Datatype
}

// Contents returns the arguments of the call that made the type. Types among them are the usual
// handles if they are predefined or of TypeOf; other types are new handles, which the program
// has to free, with the name and the commitment of the original types. ErrType for predefined
// types, except those of TypeF90Real and the like, since no call made them.
//
// C: MPI_Type_get_contents, section 5.1.13.
func (d Datatype) Contents() (Contents, error) {
	return d.contents(call.TypeGetContents, (*dtype.Type).Contents)
}

// LargeContents is Contents in the form of the C calls with large counts: Counts is one list of
// all counts and displacements, in elements and bytes. Integers contains only the arguments that
// are int in these calls, too.
//
// C: MPI_Type_get_contents_c, section 5.1.13.
func (internals) LargeContents(d Datatype) (Contents, error) {
	return d.contents(call.LargeContents, (*dtype.Type).LargeContents)
}

func (d Datatype) contents(by call.Number, of func(*dtype.Type) dtype.Contents) (Contents, error) {
	t, err := d.use(by)
	if err != nil {
		return Contents{}, err
	}
	c := of(t)
	if c.Combiner == dtype.CombinerNamed {
		return Contents{}, typeError(ErrType, by, t, "the type is predefined and has not been made of others")
	}
	out := Contents{Combiner: Combiner(c.Combiner), Integers: narrow(c.Integers), Addresses: narrow(c.Addrs), Counts: narrow(c.Counts)}
	for _, t := range c.Types {
		out.Types = append(out.Types, types().handle(t))
	}
	return out, nil
}

// narrow converts a list of the engine to ints.
func narrow(list []int64) []int {
	n := make([]int, len(list))
	for i, v := range list {
		n[i] = int(v)
	}
	return n
}
