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

// LayoutNumber is a hash of a layout. Code in another language is compiled with the number of the layout that
// it knows, and compares.
func LayoutNumber(fields []Field) uint64 {
	var text []byte
	for _, f := range fields {
		text = strconv.AppendInt(append(append(text, f.Name...), ' '), f.Value, 10)
	}
	h := fnv.New64a()
	h.Write(text)
	return h.Sum64()
}
