package dtype

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
)

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
	return nil, class.Errorf(class.Type, "type %s has no form in a file", t)
}

// Within is how many basic elements, and how many bytes of them in memory, the first n bytes of the form
// of an element of t in a file consist in; file is what InFile has returned for t. A basic element in part does
// not count.
func (t *Type) Within(file *Type, n int64) (elements, bytes int64) { return t.sig.within(file.sig, n) }

// within relies on the fact that the signature of a type and that of its form in a file are trees of the same
// shape down to the basic types. Where a basic type takes no bytes in the file they are not: a part
// counts as a whole, or not at all.
func (s *sig) within(file *sig, n int64) (elements, bytes int64) {
	switch {
	case n >= file.bytes:
		return s.n, s.bytes
	case s.elem != nil || len(s.parts) != len(file.parts) || planted.PartForgotten:
		return 0, 0
	}
	for i, p := range s.parts {
		q := file.parts[i]
		if p.count != q.count {
			return elements, bytes
		}
		if all := q.count * q.bytes; n >= all {
			elements += p.count * p.n
			bytes += p.count * p.bytes
			n -= all
			continue
		}
		whole := n / q.bytes
		k, b := p.within(q.sig, n%q.bytes)
		return elements + whole*p.n + k, bytes + whole*p.bytes + b
	}
	return elements, bytes
}

// Part returns the Buffer of count elements of b from element first on, which b must have.
func (b *Buffer) Part(first, count int64) (Buffer, error) {
	p, err := At(b.base, b.t, count)
	p.origin = b.origin + first*b.t.lay.extent()
	return p, err
}
