package histories_test

import (
	"slices"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/mpi"
)

// newOp makes an operation, or returns nil if it does not fit. It may conflict with others.
func (m *roundMaker) newOp(origin, target int) *rmaOp {
	o := &rmaOp{kind: rmaKind(m.IntN(2)), origin: origin, target: target, seed: m.Uint64(), request: m.phase.passive() && m.one(3)}
	if m.one(2) {
		o.kind = isAccumulate + rmaKind(m.IntN(int(isUpdate-isAccumulate)))
	}
	if o.kind >= isFetchAndOp {
		o.request = false // these have no form with a request
	}
	m.through(o)
	if m.one(20) {
		o.target = nobody
	}
	done := false
	switch {
	case o.kind >= isAccumulate && m.one(2) && m.again(o):
		done = true
	case o.kind >= isAccumulate:
		done = m.elements(o)
	case o.order && m.one(2) && m.behind(o):
		done = true
	default:
		done = m.layouts(o)
	}
	if !done {
		return nil
	}
	if o.kind >= isAccumulate {
		m.operands(o)
	}
	return o
}

// place puts the target's side of o at a random position in the slot, a multiple of align if
// possible.
func (m *roundMaker) place(o *rmaOp, align int64) bool {
	if o.target < 0 && m.phase.handle(o.view) == nil { // a displacement that would be valid at a member
		target := o.target
		o.target = m.IntN(m.members())
		o.slot = min(o.slot, len(m.attached[o.target])-1)
		defer func() { o.target = target }()
	}
	unit, first, last := m.room(o)
	for _, step := range []int64{unit * align, unit} {
		k := (first + step - 1) / step
		if n := last/step - k + 1; last >= 0 && n > 0 {
			o.disp = (k + m.Int64N(n)) * (step / unit)
			o.at = o.begin + o.disp*unit
			return true
		}
	}
	return false
}

// room is the range of displacements that the target's side of o may have, in bytes from the
// beginning of the memory, and their unit.
func (m *roundMaker) room(o *rmaOp) (unit, first, last int64) {
	lo, hi := o.there.bounds()
	if o.kind >= isAccumulate && hi > lo { // including the padding of the last element
		e := elementOf(o.elem)
		end := e.parts[len(e.parts)-1]
		hi += int64(e.size) - end.Off - end.Elem.Size
	}
	size := m.sizeOf(o)
	first, last = max(0, -lo), size-max(hi, 0)
	if m.phase.win.flavor == dynamic && m.phase.handle(o.view) == nil {
		last = min(last, size-1) // an attached address, even if nothing is accessed
	}
	return m.phase.unitOf(o), first, last
}

// sizeOf is the number of bytes of the slot that o can access.
func (m *roundMaker) sizeOf(o *rmaOp) int64 {
	if h := m.phase.handle(o.view); h != nil {
		return h.size
	}
	return m.attached[max(o.target, 0)][o.slot]
}

// where places o in a slot at byte at or later, if that is possible.
func (m *roundMaker) where(o *rmaOp, slot int, at int64) bool {
	if h := m.phase.handle(o.view); h != nil && h.slot != slot {
		return false
	}
	o.slot, o.at = slot, at
	unit, first, last := m.room(o)
	at -= o.begin
	o.disp = at / unit
	return at%unit == 0 && at >= first && at <= last
}

// layouts makes the two sides of a put or get.
func (m *roundMaker) layouts(o *rmaOp) bool {
	if o.target < 0 {
		o.slot = 0
	}
	size := m.Int64N(1 + m.sizeOf(o)/int64(1+m.IntN(12)))
	o.typed = m.one(3) || o.order && m.one(2)
	if o.typed {
		return m.slices(o, size)
	}
	p := newPair(m.Rand, min(size, 40_000))
	p.room = 0
	send, recv, ok := p.halves()
	if !ok {
		return false
	}
	if o.kind == isPut {
		o.data, o.there = send, recv
	} else {
		o.there, o.result = send, recv
	}
	// newPair does not know the window: most layouts are as wide as it is.
	return m.place(o, 1<<m.IntN(5))
}

// slices makes both sides contiguous numbers.
func (m *roundMaker) slices(o *rmaOp, size int64) bool {
	ids := []dtype.ID{dtype.Int8, dtype.Byte, dtype.Int16, dtype.Int, dtype.Float, dtype.Double, dtype.Long, dtype.CDoubleComplex}
	id := ids[m.IntN(len(ids))]
	if o.elem != 0 {
		id = o.elem
	}
	s := dtypetest.Named(id)
	side := half{spec: s, count: size / types.Type(id).Size(), id: id, m: s.Typemap(types, 2)}
	o.there = side
	if o.kind != isGet {
		o.data = side
	}
	if o.hasResult() {
		o.result = side
	}
	return m.place(o, types.Type(id).Size())
}

// elementIDs are the element types of accumulates in a fixed order.
func elementIDs() []dtype.ID {
	var ids []dtype.ID
	for id := range accumulable() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// again gives o elements that are already accumulated on: all of them, or one.
func (m *roundMaker) again(o *rmaOp) bool {
	all := m.hot[claimed{o.target, o.slot}]
	if o.target < 0 || len(all) == 0 {
		return false
	}
	like := all[m.IntN(len(all))]
	o.elem = like.elem
	if o.kind == isCompareAndSwap && !swappable(o.elem) {
		return false
	}
	if o.kind < isFetchAndOp {
		o.there = like.there
		return m.where(o, like.slot, like.at) && m.origins(o)
	}
	m.single(o)
	var offs []int64
	like.each(func(off, _ int64) bool {
		if m.where(o, like.slot, off) {
			offs = append(offs, off)
		}
		return true
	})
	return len(offs) > 0 && m.where(o, like.slot, offs[m.IntN(len(offs))])
}

// swappable reports whether compare_and_swap is defined on a type.
func swappable(id dtype.ID) bool {
	switch types.Type(id).Elem() {
	case nil:
		return false
	default:
		k := types.Type(id).Elem().Kind
		return k == dtype.Integer || k == dtype.Natural || k == dtype.Boolean || k == dtype.Raw
	}
}

// single makes all sides one element.
func (m *roundMaker) single(o *rmaOp) {
	s := dtypetest.Named(o.elem)
	one := half{spec: s, count: 1, m: s.Typemap(types, 2)}
	o.typed = m.one(2) && hasSlices(o.elem)
	if o.typed {
		one.id = o.elem
	}
	o.there, o.data, o.result = one, one, one
}

// hasSlices reports whether Win[T] supports the type.
func hasSlices(id dtype.ID) bool {
	s, _ := sliceOf(id, 0)
	return s != nil
}

// elements makes the sides of an operation that accumulates.
func (m *roundMaker) elements(o *rmaOp) bool {
	ids := elementIDs()
	o.elem = ids[m.IntN(len(ids))]
	for o.kind == isCompareAndSwap && !swappable(o.elem) {
		o.elem = ids[m.IntN(len(ids))]
	}
	align := int64(1)
	if !m.one(6) { // elements need not be aligned
		align = types.Type(o.elem).Align()
	}
	if o.kind >= isFetchAndOp {
		m.single(o)
		return m.place(o, align)
	}
	e := elementOf(o.elem)
	n := int64(1 + m.IntN(12))
	switch {
	case m.one(6):
		n = 0
	case m.one(4):
		n = int64(30 + m.IntN(400)) // vector kernels
	case m.one(20):
		n = int64(5000 + m.IntN(15000)) // several frames
	}
	o.typed = hasSlices(o.elem) && m.one(3)
	if o.typed {
		return m.slices(o, n*int64(e.size))
	}
	o.there = m.layoutOf(o.elem, n)
	return !o.there.overlaps() && m.origins(o) && m.place(o, align)
}

// layoutOf is about n elements of a type in a random layout.
func (m *roundMaker) layoutOf(id dtype.ID, n int64) half {
	s := dtypetest.Named(id)
	if m.one(3) || n == 0 {
		return half{spec: s, count: n, m: s.Typemap(types, 2)}
	}
	if n <= 400 && len(elementOf(id).parts) == 1 {
		s = dtypetest.Generator{Basics: []dtype.ID{id}}.Spec(m.Rand, 1+m.IntN(3))
		if t := s.Typemap(types, 1000); t != nil && t.Size() > 0 {
			count := max(1, n*types.Type(id).Size()/t.Size())
			return half{spec: s, count: count, m: t}
		}
		s = dtypetest.Named(id)
	}
	block := 1 + m.Int64N(min(n, 8))
	n = (n + block - 1) / block
	v := &dtypetest.Spec{Combiner: dtype.CombinerVector, Ints: []int64{n, block, block + m.Int64N(3)}, Kids: []*dtypetest.Spec{s}}
	return half{spec: v, count: 1, m: v.Typemap(types, 1<<20)}
}

// origins makes the origin's sides for the elements at the target.
func (m *roundMaker) origins(o *rmaOp) bool {
	o.reads = o.kind == isGetAccumulate && m.one(6)
	n := o.there.count * int64(len(o.there.m.Entries)/len(elementOf(o.elem).parts))
	side := func() half {
		s := dtypetest.Named(o.elem)
		switch {
		case m.one(3) && len(elementOf(o.elem).parts) == 1 && n > 0 && n < 1000:
			seq := make([]*dtype.Elem, n)
			for i := range seq {
				seq[i] = types.Type(o.elem).Elem()
			}
			s = dtypetest.Regroup(m.Rand, types, seq, 1)
			return half{spec: s, count: 1, m: s.Typemap(types, 1<<20)}
		case m.one(3) && n > 0:
			s = &dtypetest.Spec{Combiner: dtype.CombinerVector, Ints: []int64{n, 1, 2}, Kids: []*dtypetest.Spec{s}}
			return half{spec: s, count: 1, m: s.Typemap(types, 1<<20)}
		}
		return half{spec: s, count: n, m: s.Typemap(types, 2)}
	}
	if !o.reads {
		o.data = side()
	}
	if o.hasResult() {
		o.result = side()
	}
	return true
}

// operands chooses the operands: random bytes, or small numbers, for which values often are
// equal, sums are exact and swaps succeed.
func (m *roundMaker) operands(o *rmaOp) {
	e := elementOf(o.elem)
	o.op = mpi.NoOp
	for o.op == mpi.NoOp && !o.reads { // NoOp is only for operations with a result
		o.op = e.ops[m.IntN(len(e.ops))]
		if o.hasResult() {
			break
		}
	}
	if o.kind == isCompareAndSwap {
		o.op = mpi.Replace
		o.before = m.small(e)
	}
	if o.kind == isUpdate {
		o.op = mpi.Sum
	}
	n := 0
	if o.data.m != nil {
		n = int(o.data.count) * len(o.data.m.Entries) / len(e.parts)
	}
	wild := m.one(4) && e.id != dtype.LongDouble // in which not all bytes are part of the number
	for range n {
		if wild {
			o.values = append(o.values, payload(e.packedSize(), m.Uint64())...)
		} else {
			o.values = append(o.values, m.small(e)...)
		}
	}
}

// small is a small number, packed.
func (m *roundMaker) small(e *element) (out []byte) {
	for _, p := range e.parts {
		out = append(out, smallNumber(p.Elem, m.IntN(4))...)
	}
	return out
}

// update adds an update, which holds an exclusive lock on the target.
func (m *roundMaker) update(origin, target int) {
	o := &rmaOp{kind: isUpdate, origin: origin, target: target, seed: m.Uint64(), times: 1 + m.IntN(40)}
	if m.one(6) {
		o.times = 1500 // long enough for other members to request the lock meanwhile
	}
	o.slot = m.IntN(len(m.phase.win.slots[target]))
	o.elem = []dtype.ID{dtype.Int, dtype.Long, dtype.Uint8}[m.IntN(3)]
	s := dtypetest.Named(o.elem)
	o.there = half{spec: s, count: 1 + m.Int64N(3), m: s.Typemap(types, 1)}
	if m.one(2) && m.attached[target][o.slot] >= 64 {
		o.disp, o.at = 0, 0 // where other updates are, too
	} else if !m.place(o, types.Type(o.elem).Size()) {
		return
	}
	o.data, o.result = o.there, o.there
	o.agent = m.agent(origin, 0)
	if !m.claims.take(o) {
		return
	}
	m.operands(o)
	m.addOp(o)
}
