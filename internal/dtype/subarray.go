package dtype

import "github.com/halo-mpi/halo/internal/class"

// Subarray makes the part of an array of old that begins at starts and has the
// lengths subsizes. The array has the lengths sizes; the type has the extent of the array.
func Subarray(sizes, subsizes, starts []int64, order Order, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkDims(len(sizes), dim{"subsizes", len(subsizes)}, dim{"starts", len(starts)}), checkOrder(order)); err != nil {
		return nil, err
	}
	for i, n := range sizes {
		switch {
		case n < 1:
			return nil, class.Errorf(class.Arg, "size %d of dimension %d is not positive", n, i)
		case subsizes[i] < 1 || subsizes[i] > n:
			return nil, class.Errorf(class.Arg, "subsize %d of dimension %d is not in 1 to %d", subsizes[i], i, n)
		case starts[i] < 0 || starts[i] > n-subsizes[i]:
			return nil, class.Errorf(class.Arg, "start %d of dimension %d is not in 0 to %d, size %d less subsize %d",
				starts[i], i, n-subsizes[i], n, subsizes[i])
		}
	}
	var b bounds
	lay, n, ex := old.lay, int64(1), old.lay.extent()
	for i := range sizes {
		d := dimension(i, len(sizes), order)
		// Each dimension is a layout inside the next one. Only its data counts; the markers
		// are set at the end.
		b.layout, b.marked = layout{}, false
		lay.marked = false
		b.grid(&lay, b.mul(starts[d], ex), 1, 0, subsizes[d], ex)
		lay = b.layout
		n = b.mul(n, subsizes[d])
		ex = b.mul(ex, sizes[d])
	}
	b.mark(0, ex)
	return single(&b, n, old, CombinerSubarray, nil, []int64{int64(len(sizes))}, sizes, subsizes, starts, []int64{int64(order)})
}

// subarrayNode is the loop program of a type that Subarray made.
func subarrayNode(c *call, sub *node) *node {
	nd := int(c.ints[0])
	sizes, subsizes, starts := c.ints[1:1+nd], c.ints[1+nd:1+2*nd], c.ints[1+2*nd:1+3*nd]
	ex := c.types[0].lay.extent()
	all := *sub
	for i := range nd {
		d := dimension(i, nd, Order(c.ints[1+3*nd]))
		all = all.repeated(subsizes[d], ex)
		if all.kind != nothing {
			all.off += starts[d] * ex
		}
		ex *= sizes[d]
	}
	return &all
}

// dimension is the i-th dimension of n, counted from the one that varies fastest.
func dimension(i, n int, order Order) int {
	if order == OrderC {
		return n - 1 - i
	}
	return i
}

type dim struct {
	name string
	n    int
}

// checkDims checks that there is a dimension, and that all arrays have ndims entries.
func checkDims(ndims int, others ...dim) error {
	if ndims < 1 {
		return class.Errorf(class.Dims, "%d dimensions, there must be one at least", ndims)
	}
	for _, o := range others {
		if o.n != ndims {
			return class.Errorf(class.Dims, "%d %s for %d dimensions", o.n, o.name, ndims)
		}
	}
	return nil
}

func checkOrder(order Order) error {
	if order != OrderC && order != OrderFortran {
		return class.Errorf(class.Arg, "order %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", int(order))
	}
	return nil
}
