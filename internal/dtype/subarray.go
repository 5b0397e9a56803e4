package dtype

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
)

// Subarray makes the part of an array of old that begins at starts and has the
// lengths subsizes, in an array with the lengths sizes, whose extent the type has.
func Subarray(sizes, subsizes, starts []int64, order Order, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkDims(len(sizes), dim{"subsizes", len(subsizes)}, dim{"starts", len(starts)}), checkOrder(order)); err != nil {
		return nil, err
	}
	for i, n := range sizes {
		switch {
		case n < 1:
			return nil, fail(class.Arg, "size %d of dimension %d is not positive", n, i)
		case subsizes[i] < 1 || subsizes[i] > n:
			return nil, fail(class.Arg, "subsize %d of dimension %d is not in 1 to %d", subsizes[i], i, n)
		case starts[i] < 0 || starts[i] > n-subsizes[i]:
			return nil, fail(class.Arg, "start %d of dimension %d is not in 0 to %d, size %d less subsize %d",
				starts[i], i, n-subsizes[i], n, subsizes[i])
		}
	}
	made := call{CombinerSubarray, slices.Concat([]int64{int64(len(sizes))}, sizes, subsizes, starts, []int64{int64(order)}),
		nil, []*Type{old}}
	var b bounds
	lay, n, ex := old.lay, int64(1), old.lay.extent()
	for _, d := range dimensions(len(sizes), order) {
		// Each dimension is a layout of its own inside the next: only the data
		// counts, markers are set at the end.
		b.layout, b.marked = layout{}, false
		lay.marked = false
		b.grid(&lay, b.mul(starts[d], ex), 1, 0, subsizes[d], ex)
		lay = b.layout
		n = b.mul(n, subsizes[d])
		ex = b.mul(ex, sizes[d])
	}
	b.mark(0, ex)
	return single(&b, n, old, made)
}

// subarrayNode is the loop program of what Subarray made.
func subarrayNode(c *call, sub *node) *node {
	nd := int(c.ints[0])
	sizes, subsizes, starts := c.ints[1:1+nd], c.ints[1+nd:1+2*nd], c.ints[1+2*nd:1+3*nd]
	ex := c.types[0].lay.extent()
	for _, d := range dimensions(nd, Order(c.ints[1+3*nd])) {
		sub = repeat(subsizes[d], ex, sub).at(starts[d] * ex)
		ex *= sizes[d]
	}
	return sub
}

// dimensions lists the dimensions from the one that varies fastest.
func dimensions(n int, order Order) []int {
	ds := make([]int, n)
	for i := range ds {
		ds[i] = i
		if order == OrderC {
			ds[i] = n - 1 - i
		}
	}
	return ds
}

type dim struct {
	name string
	n    int
}

// checkDims checks that there are dimensions and as many of everything.
func checkDims(ndims int, others ...dim) error {
	if ndims < 1 {
		return fail(class.Dims, "%d dimensions, there must be one at least", ndims)
	}
	for _, o := range others {
		if o.n != ndims {
			return fail(class.Dims, "%d %s for %d dimensions", o.n, o.name, ndims)
		}
	}
	return nil
}

func checkOrder(order Order) error {
	if order != OrderC && order != OrderFortran {
		return fail(class.Arg, "order %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", int(order))
	}
	return nil
}
