package dtype

// compile makes the loop program of a type from the arguments of its constructor. With typed
// each run holds elements of one basic datatype; otherwise runs are plain bytes.
func compile(t *Type, typed bool) *node {
	old := func(i int) *node {
		if typed {
			return t.made.types[i].elements()
		}
		return t.made.types[i].program()
	}
	c := &t.made
	switch c.combiner {
	case CombinerDup, CombinerResized:
		return old(0)
	case CombinerContiguous:
		return repeat(c.ints[0], c.types[0].lay.extent(), old(0))
	case CombinerVector, CombinerHvector:
		ex := c.types[0].lay.extent()
		var stride int64
		if c.combiner == CombinerHvector {
			stride = c.addrs[0]
		} else {
			stride = c.ints[2] * ex
		}
		return repeat(c.ints[0], stride, repeat(c.ints[1], ex, old(0)))
	case CombinerIndexed, CombinerHindexed, CombinerIndexedBlock, CombinerHindexedBlock:
		return indexedNode(blocksOf(c), c.types[0].lay.extent(), old(0))
	case CombinerSubarray:
		return subarrayNode(c, old(0))
	case CombinerDarray:
		return darrayNode(c, old(0))
	}
	if t.elem != nil {
		if typed {
			return runOf(t.elem.Size, t.elem)
		}
		return runOf(t.elem.Size, nil)
	}
	if t.body != nil {
		if typed {
			return t.body.elements()
		}
		return t.body.program()
	}
	var q sequence
	for i, part := range c.types {
		q.repeat(c.ints[1+i], part.lay.extent(), old(i), c.addrs[i])
	}
	return q.node()
}

// indexedNode is the loop program of an indexed type of elements sub, whose extent
// is ex.
func indexedNode(b blocks, ex int64, sub *node) *node {
	if sub.kind == run && sub.size == ex {
		l := runList{elem: sub.elem}
		for i, d := range b.displs {
			l.add(sub.off+d*b.unit, b.len(i)*ex)
		}
		return l.node()
	}
	same := true
	for i := range b.displs {
		same = same && b.len(i) == b.len(0)
	}
	if same && len(b.displs) > 0 {
		offs := make([]int64, len(b.displs))
		for i, d := range b.displs {
			offs[i] = d * b.unit
		}
		return scatter(offs, repeat(b.len(0), ex, sub))
	}
	var q sequence
	for i, d := range b.displs {
		q.repeat(b.len(i), ex, sub, d*b.unit)
	}
	return q.node()
}
