package shmfmt

import (
	"hash/fnv"
	"strconv"
)

// Field is an offset or a constant of a layout, for code in other languages that uses the same
// memory.
type Field struct {
	Name  string // in capital letters, with words separated by _
	Value int64
}

// Layouts are the numbers of the layouts of all records that code in other languages uses.
type Layouts struct {
	Slot    uint64 // of a communicator, for collectives
	Message uint64 // of a communicator, for messages
	Win     uint64
	File    uint64
	Type    uint64
}

// LayoutNumber is a hash of a layout. Code in another language is compiled with the number of the layout that
// it knows, and compares.
func LayoutNumber(fields []Field) uint64 {
	var room [64]byte // one growing text would leave a block of each size, in pages of its own, to every process
	h := fnv.New64a()
	for _, f := range fields {
		h.Write(strconv.AppendInt(append(append(room[:0], f.Name...), ' '), f.Value, 10))
	}
	return h.Sum64()
}
