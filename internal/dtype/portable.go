package dtype

import "github.com/halo-mpi/halo/internal/class"

// External returns the type that describes where elements of t are in a file in external32: see InFile.
func (t *Type) External(bytes *Type) (*Type, error) {
	return t.InFile(bytes, func(basic *Type) (int64, error) { return basic.sig.external, nil })
}

// InFile returns the type that describes where elements of t are in a file: each predefined type takes
// the bytes that size says, without padding, and displacements that count elements scale with them
// (MPI-5, 14.5.1). Displacements in bytes remain what they are: programs compute those of a portable
// file type from extents in the file. bytes is the type MPI_BYTE. The type is committed.
func (t *Type) InFile(bytes *Type, size func(basic *Type) (int64, error)) (*Type, error) {
	x, err := t.inFile(bytes, size)
	if err != nil {
		return nil, err
	}
	x.Commit()
	return x, nil
}

func (t *Type) inFile(bytes *Type, size func(basic *Type) (int64, error)) (*Type, error) {
	c := &t.made
	i, a := c.ints, c.addrs
	switch c.combiner {
	case CombinerNamed, CombinerF90Real, CombinerF90Complex, CombinerF90Integer, CombinerValueIndex:
		n, err := size(t)
		if err != nil {
			return nil, err
		}
		return Contiguous(n, bytes)
	}
	olds := make([]*Type, len(c.types))
	for k, old := range c.types {
		x, err := old.inFile(bytes, size)
		if err != nil {
			return nil, err
		}
		olds[k] = x
	}
	switch c.combiner {
	case CombinerDup:
		return olds[0], nil
	case CombinerContiguous:
		return Contiguous(i[0], olds[0])
	case CombinerVector:
		return Vector(i[0], i[1], i[2], olds[0])
	case CombinerHvector:
		return Hvector(i[0], i[1], a[0], olds[0])
	case CombinerIndexed:
		return Indexed(i[1:1+i[0]], i[1+i[0]:], olds[0])
	case CombinerHindexed:
		return Hindexed(i[1:], a, olds[0])
	case CombinerIndexedBlock:
		return IndexedBlock(i[1], i[2:], olds[0])
	case CombinerHindexedBlock:
		return HindexedBlock(i[1], a, olds[0])
	case CombinerStruct:
		return Struct(i[1:], a, olds)
	case CombinerSubarray:
		n := i[0]
		return Subarray(i[1:1+n], i[1+n:1+2*n], i[1+2*n:1+3*n], Order(i[1+3*n]), olds[0])
	case CombinerDarray:
		n := i[2]
		dims := make([]Distribute, n)
		for k := range dims {
			at := i[3+int64(k):]
			dims[k] = Distribute{Size: at[0], Kind: Distribution(at[n]), Arg: at[2*n], Procs: at[3*n]}
		}
		return Darray(i[0], i[1], dims, Order(i[len(i)-1]), olds[0])
	case CombinerResized:
		return Resized(olds[0], a[0], a[1])
	}
	return nil, fail(class.Type, "type %s has no form in a file", t)
}

// NativeSize is how many bytes the basic elements take in memory of which the first n bytes of an
// element of t consist in external32; a basic element in part does not count.
func (t *Type) NativeSize(n int64) int64 { return t.sig.native(n) }

func (s *sig) native(external int64) (n int64) {
	if external >= s.external {
		return s.bytes
	}
	for _, p := range s.parts {
		if all := p.count * p.external; external >= all {
			n += p.count * p.bytes
			external -= all
			continue
		}
		return n + external/p.external*p.bytes + p.native(external%p.external)
	}
	return n
}

// Part returns the Buffer of count elements of b from element first on, which b must have.
func (b *Buffer) Part(first, count int64) (Buffer, error) {
	p, err := At(b.base, b.t, count)
	p.origin = b.origin + first*b.t.lay.extent()
	return p, err
}
