package dtype

import "encoding/binary"

// typemap is the oracle: the standard's definition of a type, entry by entry.
type typemap struct {
	entries []entry
	lb, ub  *int64 // markers
}

type entry struct {
	e   *Elem
	off int64
}

// tooLong bounds the oracle's work; specs beyond it are not tested.
const tooLong = 1500

func (m *typemap) trueBounds() (lb, ub int64) {
	for i, e := range m.entries {
		if i == 0 {
			lb, ub = e.off, e.off+e.e.Size
		}
		lb, ub = min(lb, e.off), max(ub, e.off+e.e.Size)
	}
	return lb, ub
}

func (m *typemap) bounds() (lb, ub int64) {
	if m.lb != nil {
		return *m.lb, *m.ub
	}
	lb, ub = m.trueBounds()
	for _, e := range m.entries {
		for (ub-lb)%e.e.Align != 0 {
			ub++
		}
	}
	return lb, ub
}

func (m *typemap) extent() int64 {
	lb, ub := m.bounds()
	return ub - lb
}

// place adds old at a displacement. ok is false if that becomes too long.
func (m *typemap) place(old *typemap, at int64) bool {
	for _, e := range old.entries {
		m.entries = append(m.entries, entry{e.e, e.off + at})
	}
	if old.lb != nil {
		lb, ub := *old.lb+at, *old.ub+at
		if m.lb != nil {
			lb, ub = min(lb, *m.lb), max(ub, *m.ub)
		}
		m.lb, m.ub = &lb, &ub
	}
	return len(m.entries) <= tooLong
}

// blocks adds n copies of old, one extent apart.
func (m *typemap) block(n int64, old *typemap, at int64) bool {
	ex := old.extent()
	for i := range n {
		if !m.place(old, at+i*ex) {
			return false
		}
	}
	return true
}

// typemap is what s means, nil if it is too long.
func (s *spec) typemap(set *Set) *typemap {
	m := &typemap{}
	if s.c == CombinerNamed {
		t := set.Type(s.id)
		if v, i, ok := t.Pair(); ok {
			at := v.elem.Size
			for at%i.elem.Size != 0 {
				at++
			}
			m.entries = []entry{{v.elem, 0}, {i.elem, at}}
		} else {
			m.entries = []entry{{t.elem, 0}}
		}
		return m
	}
	var old []*typemap
	for _, k := range s.kids {
		o := k.typemap(set)
		if o == nil {
			return nil
		}
		old = append(old, o)
	}
	ok := true
	i, a := s.ints, s.addrs
	switch s.c {
	case CombinerDup:
		ok = m.place(old[0], 0)
	case CombinerContiguous:
		ok = m.block(i[0], old[0], 0)
	case CombinerVector:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], k*i[2]*old[0].extent())
		}
	case CombinerHvector:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], k*a[0])
		}
	case CombinerIndexed:
		n := i[0]
		for k := range n {
			ok = ok && m.block(i[1+k], old[0], i[1+n+k]*old[0].extent())
		}
	case CombinerHindexed:
		for k := range i[0] {
			ok = ok && m.block(i[1+k], old[0], a[k])
		}
	case CombinerIndexedBlock:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], i[2+k]*old[0].extent())
		}
	case CombinerHindexedBlock:
		for k := range i[0] {
			ok = ok && m.block(i[1], old[0], a[k])
		}
	case CombinerStruct:
		for k := range i[0] {
			ok = ok && m.block(i[1+k], old[k], a[k])
		}
	case CombinerSubarray:
		n := i[0]
		subs, starts := i[1+n:1+2*n], i[1+2*n:1+3*n]
		ok = m.array(i[1:1+n], Order(i[1+3*n]), old[0], func(d int, x int64) bool {
			return x >= starts[d] && x < starts[d]+subs[d]
		})
	case CombinerDarray:
		dims := distributes(i)
		var sizes, coords []int64
		rank := i[1]
		for k := len(dims) - 1; k >= 0; k-- { // the last coordinate varies fastest
			coords = append([]int64{rank % dims[k].Procs}, coords...)
			rank /= dims[k].Procs
			sizes = append([]int64{dims[k].Size}, sizes...)
		}
		ok = m.array(sizes, Order(i[len(i)-1]), old[0], func(d int, x int64) bool {
			arg := dims[d].Arg
			switch dims[d].Kind {
			case DistributeNone:
				return true
			case DistributeBlock:
				if arg == DistributeDefault {
					arg = 1
					for arg*dims[d].Procs < dims[d].Size {
						arg++
					}
				}
				return x/arg == coords[d]
			}
			if arg == DistributeDefault {
				arg = 1
			}
			return x/arg%dims[d].Procs == coords[d]
		})
	case CombinerResized:
		ok = m.place(old[0], 0)
		lb, ub := a[0], a[0]+a[1]
		m.lb, m.ub = &lb, &ub
	}
	if !ok {
		return nil
	}
	return m
}

// array adds those elements of an array that mine wants, in the order of memory.
func (m *typemap) array(sizes []int64, order Order, old *typemap, mine func(d int, x int64) bool) bool {
	total, ex := int64(1), old.extent()
	for _, n := range sizes {
		total *= n
	}
	bare := &typemap{entries: old.entries}
	ok := true
	for at := range total {
		rest, take := at, true
		for k := range sizes {
			d := k
			if order == OrderC {
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

// times is count elements, one extent apart.
func (m *typemap) times(count int64) *typemap {
	all := &typemap{}
	if !all.block(count, m, 0) {
		return nil
	}
	return all
}

// offsets lists the offset of every byte in the order of packing.
func (m *typemap) offsets() []int64 {
	var out []int64
	for _, e := range m.entries {
		for b := range e.e.Size {
			out = append(out, e.off+b)
		}
	}
	return out
}

func (m *typemap) overlaps() bool {
	seen := map[int64]bool{}
	for _, o := range m.offsets() {
		if seen[o] {
			return true
		}
		seen[o] = true
	}
	return false
}

// external converts the entries at mem[origin] on one by one, by the bytes.
func (m *typemap) external(mem []byte, origin int64) []byte {
	var out []byte
	for _, e := range m.entries {
		b := mem[origin+e.off:][:e.e.Size]
		switch e.e.ID {
		case Long: // 4 low bytes, the sign
			v := int64(binary.LittleEndian.Uint64(b))
			low := uint32(v & 0x7fffffff)
			if v < 0 {
				low += 0x80000000
			}
			out = binary.BigEndian.AppendUint32(out, low)
		case Wchar:
			out = append(out, b[1], b[0])
		case LongDouble:
			out = append(out, externalLongDouble(b)...)
		case CDoubleComplex, Complex32:
			h := len(b) / 2
			out = append(out, reversed(b[:h])...)
			out = append(out, reversed(b[h:])...)
		default:
			out = append(out, reversed(b)...)
		}
	}
	return out
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[len(b)-1-i] = v
	}
	return out
}

// externalLongDouble widens a normal number.
func externalLongDouble(b []byte) []byte {
	switch cLongDouble() {
	case Extended: // the bits behind the leading one move to the front of 112
		m := binary.LittleEndian.Uint64(b) << 1
		out := []byte{b[9], b[8]}
		out = binary.BigEndian.AppendUint64(out, m)
		return append(out, 0, 0, 0, 0, 0, 0)
	case Quad:
		return reversed(b)
	}
	v := binary.LittleEndian.Uint64(b)
	exponent := v>>52&0x7ff + 16383 - 1023
	out := binary.BigEndian.AppendUint64(nil, v>>63<<63|exponent<<48|v<<12>>16)
	return binary.BigEndian.AppendUint64(out, v<<60)
}
