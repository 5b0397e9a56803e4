package dtype

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
)

// Indexed makes a block of blocklengths[i] copies of old at displacement
// displs[i], in extents of old, for each i.
func Indexed(blocklengths, displs []int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkBlocks(blocklengths, displs)); err != nil {
		return nil, err
	}
	return indexed(blocks{lengths: blocklengths, displs: displs, unit: old.lay.extent()}, old,
		CombinerIndexed, nil, []int64{int64(len(displs))}, blocklengths, displs)
}

// Hindexed is Indexed with displacements in bytes.
func Hindexed(blocklengths, displs []int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkBlocks(blocklengths, displs)); err != nil {
		return nil, err
	}
	return indexed(blocks{lengths: blocklengths, displs: displs, unit: 1}, old,
		CombinerHindexed, displs, []int64{int64(len(displs))}, blocklengths)
}

// IndexedBlock is Indexed with blocks of one length.
func IndexedBlock(blocklength int64, displs []int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkBlock("blocklength", blocklength)); err != nil {
		return nil, err
	}
	return indexed(blocks{length: blocklength, displs: displs, unit: old.lay.extent()}, old,
		CombinerIndexedBlock, nil, []int64{int64(len(displs)), blocklength}, displs)
}

// HindexedBlock is IndexedBlock with displacements in bytes.
func HindexedBlock(blocklength int64, displs []int64, old *Type) (*Type, error) {
	if err := firstError(usable(old), checkBlock("blocklength", blocklength)); err != nil {
		return nil, err
	}
	return indexed(blocks{length: blocklength, displs: displs, unit: 1}, old,
		CombinerHindexedBlock, displs, []int64{int64(len(displs)), blocklength})
}

// blocks are the blocks of an indexed type.
type blocks struct {
	lengths []int64 // nil: all are length
	length  int64
	displs  []int64
	unit    int64 // of displacements, in bytes
}

func (b *blocks) len(i int) int64 {
	if b.lengths == nil {
		return b.length
	}
	return b.lengths[i]
}

func indexed(bl blocks, old *Type, made Combiner, addrs []int64, ints ...[]int64) (*Type, error) {
	var b bounds
	n, ex := int64(0), old.lay.extent()
	for i, d := range bl.displs {
		if bl.len(i) == 0 {
			continue
		}
		b.grid(&old.lay, b.mul(d, bl.unit), 1, 0, bl.len(i), ex)
		n = b.checked.add(n, bl.len(i))
	}
	return single(&b, n, old, made, addrs, ints...)
}

// blocksOf returns the blocks of an indexed type from its constructor call.
func blocksOf(c *call) blocks {
	n := int(c.ints[0])
	b := blocks{unit: c.types[0].lay.extent()}
	switch c.combiner {
	case CombinerIndexed:
		b.lengths, b.displs = c.ints[1:1+n], c.ints[1+n:]
	case CombinerHindexed:
		b.lengths, b.displs, b.unit = c.ints[1:], c.addrs, 1
	case CombinerIndexedBlock:
		b.length, b.displs = c.ints[1], c.ints[2:]
	case CombinerHindexedBlock:
		b.length, b.displs, b.unit = c.ints[1], c.addrs, 1
	}
	return b
}

// checkBlocks checks lengths and displacements of blocks.
func checkBlocks(blocklengths, displs []int64) error {
	if len(blocklengths) != len(displs) {
		return class.Errorf(class.Arg, "%d blocklengths, but %d displacements", len(blocklengths), len(displs))
	}
	for i, n := range blocklengths {
		if n < 0 {
			return class.Errorf(class.Arg, "blocklength %d at index %d is negative", n, i)
		}
	}
	return nil
}

// counted returns the length of the first list, followed by the entries of all lists.
func counted(lists ...[]int64) []int64 {
	return slices.Concat(append([][]int64{{int64(len(lists[0]))}}, lists...)...)
}
