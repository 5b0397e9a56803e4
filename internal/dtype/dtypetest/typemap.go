package dtypetest

import (
	"slices"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Typemap is the oracle: the standard's definition of a type, entry by entry.
type Typemap struct {
	Entries []Entry

	lb, ub *int64 // markers, nil if there are none
	limit  int    // largest number of entries
}

// Entry is a basic type at a displacement.
type Entry struct {
	Elem *dtype.Elem
	Off  int64
}

// TrueBounds returns the least displacement and the greatest end of an entry.
func (m *Typemap) TrueBounds() (lb, ub int64) {
	for i, e := range m.Entries {
		if i == 0 {
			lb, ub = e.Off, e.Off+e.Elem.Size
		}
		lb, ub = min(lb, e.Off), max(ub, e.Off+e.Elem.Size)
	}
	return lb, ub
}

// Bounds returns lower and upper bound: the markers if there are any, else the true bounds
// with the extent rounded up for alignment.
func (m *Typemap) Bounds() (lb, ub int64) {
	if m.lb != nil {
		return *m.lb, *m.ub
	}
	lb, ub = m.TrueBounds()
	for align := m.align(); (ub-lb)%align != 0; {
		ub++
	}
	return lb, ub
}

// align returns the strictest alignment of the elements; alignments are powers of two.
func (m *Typemap) align() int64 {
	most := int64(1)
	for _, e := range m.Entries {
		most = max(most, e.Elem.Align)
	}
	return most
}

// Extent is the distance of consecutive elements.
func (m *Typemap) Extent() int64 {
	lb, ub := m.Bounds()
	return ub - lb
}

// Size is the number of bytes of data.
func (m *Typemap) Size() (n int64) {
	for _, e := range m.Entries {
		n += e.Elem.Size
	}
	return n
}

// place adds old at a displacement. It returns false if the typemap becomes too long.
func (m *Typemap) place(old *Typemap, at int64) bool {
	for _, e := range old.Entries {
		m.Entries = append(m.Entries, Entry{e.Elem, e.Off + at})
	}
	if old.lb != nil {
		lb, ub := *old.lb+at, *old.ub+at
		if m.lb != nil {
			lb, ub = min(lb, *m.lb), max(ub, *m.ub)
		}
		m.lb, m.ub = &lb, &ub
	}
	return len(m.Entries) <= m.limit
}

// block adds n copies of old, one extent apart.
func (m *Typemap) block(n int64, old *Typemap, at int64) bool {
	ex := old.Extent()
	for i := range n {
		if !m.place(old, at+i*ex) {
			return false
		}
	}
	return true
}

// Typemap returns the typemap of s, nil if it has more entries than limit.
func (s *Spec) Typemap(set *dtype.Set, limit int) *Typemap {
	m := &Typemap{limit: limit}
	if s.Combiner == dtype.CombinerNamed {
		t := set.Type(s.ID)
		if v, i, ok := t.Pair(); ok {
			at := v.Size()
			for at%i.Size() != 0 {
				at++
			}
			m.Entries = []Entry{{v.Elem(), 0}, {i.Elem(), at}}
		} else {
			m.Entries = []Entry{{t.Elem(), 0}}
		}
		return m
	}
	var old []*Typemap
	for _, k := range s.Kids {
		o := k.Typemap(set, limit)
		if o == nil {
			return nil
		}
		old = append(old, o)
	}
	if !m.construct(s, old) {
		return nil
	}
	return m
}

// construct fills m with the typemap that the constructor of s makes from old.
func (m *Typemap) construct(s *Spec, old []*Typemap) (ok bool) {
	ok = true
	i, a := s.Ints, s.Addrs
	switch s.Combiner {
	case dtype.CombinerDup:
		ok = m.place(old[0], 0)
	case dtype.CombinerContiguous:
		ok = m.block(i[0], old[0], 0)
	case dtype.CombinerVector:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], k*i[2]*old[0].Extent())
		}
	case dtype.CombinerHvector:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], k*a[0])
		}
	case dtype.CombinerIndexed:
		n := i[0]
		for k := range n {
			ok = ok && m.block(i[1+k], old[0], i[1+n+k]*old[0].Extent())
		}
	case dtype.CombinerHindexed:
		for k := range i[0] {
			ok = ok && m.block(i[1+k], old[0], a[k])
		}
	case dtype.CombinerIndexedBlock:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], i[2+k]*old[0].Extent())
		}
	case dtype.CombinerHindexedBlock:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], a[k])
		}
	case dtype.CombinerStruct:
		for k := range i[0] {
			ok = ok && m.block(i[1+k], old[k], a[k])
		}
	case dtype.CombinerSubarray:
		n := i[0]
		subs, starts := i[1+n:1+2*n], i[1+2*n:1+3*n]
		ok = m.array(i[1:1+n], dtype.Order(i[1+3*n]), old[0], func(d int, x int64) bool {
			return x >= starts[d] && x < starts[d]+subs[d]
		})
	case dtype.CombinerDarray:
		ok = m.darray(i, old[0])
	case dtype.CombinerResized:
		ok = m.place(old[0], 0)
		lb, ub := a[0], a[0]+a[1]
		m.lb, m.ub = &lb, &ub
	}
	return ok
}

// darray adds the elements of a distributed array that a rank holds.
func (m *Typemap) darray(i []int64, old *Typemap) bool {
	dims := Distributes(i)
	var sizes, coords []int64
	rank := i[1]
	for k := len(dims) - 1; k >= 0; k-- { // the last coordinate varies fastest
		coords = append([]int64{rank % dims[k].Procs}, coords...)
		rank /= dims[k].Procs
		sizes = append([]int64{dims[k].Size}, sizes...)
	}
	return m.array(sizes, dtype.Order(i[len(i)-1]), old, func(d int, x int64) bool {
		arg := dims[d].Arg
		switch dims[d].Kind {
		case dtype.DistributeNone:
			return true
		case dtype.DistributeBlock:
			if arg == dtype.DistributeDefault {
				arg = 1
				for arg*dims[d].Procs < dims[d].Size {
					arg++
				}
			}
			return x/arg == coords[d]
		}
		if arg == dtype.DistributeDefault {
			arg = 1
		}
		return x/arg%dims[d].Procs == coords[d]
	})
}

// array adds the elements of an array for which mine returns true in each dimension, in the
// order of memory.
func (m *Typemap) array(sizes []int64, order dtype.Order, old *Typemap, mine func(d int, x int64) bool) bool {
	total, ex := int64(1), old.Extent()
	for _, n := range sizes {
		total *= n
	}
	bare := &Typemap{Entries: old.Entries}
	ok := true
	for at := range total {
		rest, take := at, true
		for k := range sizes {
			d := k
			if order == dtype.OrderC {
				d = len(sizes) - 1 - k
			}
			take = take && mine(d, rest%sizes[d])
			rest /= sizes[d]
		}
		if take {
			ok = ok && m.place(bare, at*ex)
		}
	}
	lb, ub := int64(0), total*ex
	m.lb, m.ub = &lb, &ub
	return ok
}

// Times returns the typemap of count elements, one extent apart; nil if it is too long.
func (m *Typemap) Times(count int64) *Typemap {
	all := &Typemap{limit: m.limit}
	if !all.block(count, m, 0) {
		return nil
	}
	return all
}

// Offsets lists the offset of every byte in the order of packing.
func (m *Typemap) Offsets() []int64 {
	out := make([]int64, 0, m.Size())
	for _, e := range m.Entries {
		for b := range e.Elem.Size {
			out = append(out, e.Off+b)
		}
	}
	return out
}

// Overlaps reports whether a byte occurs twice.
func (m *Typemap) Overlaps() bool {
	offs := m.Offsets()
	slices.Sort(offs)
	return len(slices.Compact(offs)) < int(m.Size())
}

// Elems returns the sequence of basic types.
func (m *Typemap) Elems() []*dtype.Elem {
	out := make([]*dtype.Elem, len(m.Entries))
	for i, e := range m.Entries {
		out[i] = e.Elem
	}
	return out
}

// Packed returns the packed data from mem, where displacement 0 is at origin.
func (m *Typemap) Packed(mem []byte, origin int64) []byte {
	out := make([]byte, 0, m.Size())
	for _, e := range m.Entries {
		out = append(out, mem[origin+e.Off:][:e.Elem.Size]...)
	}
	return out
}

// Unpack stores packed data, which may end early, at its places in mem.
func (m *Typemap) Unpack(mem []byte, origin int64, data []byte) {
	for _, e := range m.Entries {
		data = data[copy(mem[origin+e.Off:][:e.Elem.Size], data):]
	}
}
