package coll_test

import (
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
)

// reduces reports whether the task combines operands.
func (t *task) reduces() bool {
	switch t.kind {
	case coll.Reduce, coll.Allreduce, coll.Scan, coll.Exscan, coll.ReduceScatter, coll.ReduceScatterBlock:
		return true
	}
	return false
}

// whole returns what a member gives to a reduction.
func (t *task) whole(from int, k uint64) []byte {
	total := t.counts[0][0]
	if t.kind == coll.ReduceScatter || t.kind == coll.ReduceScatterBlock {
		total = 0
		for _, x := range t.counts[0] {
			total += x
		}
	}
	return contribution(t.typ, total, from, k)
}

// store stores a result, and leaves what is in gaps of its elements. An operation of the program is called
// for the memory of the elements.
func (t *task) store(into, result []byte) {
	if t.user != nil {
		copy(into, result)
		return
	}
	t.typ.Copy(into[:len(result)], result)
}

// reduced returns the reduction over ranks 0 to last.
func (t *task) reduced(last int, k uint64) []byte {
	sum := t.whole(0, k)
	for r := 1; r <= last; r++ {
		if part := t.whole(r, k); t.user != nil {
			t.user.Fn(sum, part)
			sum = part
		} else {
			op.Apply(t.o, t.typ, sum, sum, part)
		}
	}
	return sum
}
