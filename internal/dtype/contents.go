package dtype

import "slices"

// call is the constructor call that made a type: its arguments in the order of the
// standard's table for MPI_Type_get_contents.
type call struct {
	combiner Combiner
	ints     []int64
	addrs    []int64
	types    []*Type
}

// Contents is the envelope and the contents of a type. The envelope's numbers are
// the lengths of the slices. For a predefined type all slices are empty.
type Contents struct {
	Combiner Combiner
	Integers []int64 // int in C
	Addrs    []int64 // MPI_Aint
	Counts   []int64 // MPI_Count
	Types    []*Type
}

// Contents returns the arguments as MPI_Type_get_contents does. Counts is empty;
// the caller checks whether Integers fit an int of C.
func (t *Type) Contents() Contents {
	c := &t.made
	return Contents{
		Combiner: c.combiner,
		Integers: slices.Clone(c.ints),
		Addrs:    slices.Clone(c.addrs),
		Types:    slices.Clone(c.types),
	}
}

// LargeContents returns the arguments as MPI_Type_get_contents_c does for a type
// made by a function with large counts: counts and displacements are in Counts.
func (t *Type) LargeContents() Contents {
	c := t.Contents()
	all := slices.Concat(c.Integers, c.Addrs)
	switch c.Combiner {
	case CombinerF90Real, CombinerF90Complex, CombinerF90Integer:
		return c
	case CombinerSubarray: // ndims, sizes, subsizes, starts, order
		last := len(all) - 1
		c.Integers, c.Counts = []int64{all[0], all[last]}, all[1:last]
	case CombinerDarray: // size, rank, ndims, gsizes, distribs, dargs, psizes, order
		n := int(all[2])
		c.Integers, c.Counts = slices.Concat(all[:3], all[3+n:]), slices.Clone(all[3:3+n])
	default:
		c.Integers, c.Counts = nil, all
	}
	c.Addrs = nil
	return c
}
