package rma

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
)

// entry is the description of a member that the members of a window exchange.
type entry struct {
	class   class.Class // Success, or why this member cannot make the window
	fine    bool        // asks for a fine granularity of accumulates
	size    int64       // of the memory in bytes
	unit    int64       // displacement unit in bytes
	where   int64       // offset of the memory in the segment of its process, nowhere if it cannot be mapped
	addr    int64       // address of the memory in its process
	control int64       // offset of the control block, as where
}

// nowhere is the offset of memory that is in no segment.
const nowhere = -1

// entrySize is the length of an encoded entry in bytes.
const entrySize = 48

// entryFine is a bit of the first word of an encoded entry, above the class.
const entryFine = 1 << 32

func (x *entry) encode(b []byte) {
	first := int64(x.class)
	if x.fine {
		first |= entryFine
	}
	for i, w := range [...]int64{first, x.size, x.unit, x.where, x.addr, x.control} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(w))
	}
}

func (x *entry) decode(b []byte) {
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	*x = entry{
		class: class.Class(int32(word(0))), fine: word(0)&entryFine != 0,
		size: word(1), unit: word(2), where: word(3), addr: word(4), control: word(5),
	}
}

// column is one property of all members; one value if it is the same for all.
type column struct {
	same int64
	each []int64
}

func (c *column) at(rank int) int64 {
	if c.each == nil {
		return c.same
	}
	return c.each[rank]
}

func newColumn(n int, at func(rank int) int64) column {
	same := at(0)
	for r := 1; r < n; r++ {
		if at(r) != same {
			each := make([]int64, n)
			for r := range each {
				each[r] = at(r)
			}
			return column{each: each}
		}
	}
	return column{same: same}
}

// table is the entries of all members: at most 40 bytes per member, and nothing for values that are
// the same for all.
type table struct {
	size, unit, where, addr, control column
}

func newTable(all []byte) table {
	n := len(all) / entrySize
	col := func(word int) column {
		return newColumn(n, func(r int) int64 {
			return int64(binary.LittleEndian.Uint64(all[r*entrySize+8*word:]))
		})
	}
	return table{col(1), col(2), col(3), col(4), col(5)}
}

func (t *table) at(rank int) entry {
	return entry{
		size: t.size.at(rank), unit: t.unit.at(rank), where: t.where.at(rank), addr: t.addr.at(rank), control: t.control.at(rank),
	}
}
