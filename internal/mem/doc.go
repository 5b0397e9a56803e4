// Package mem describes the memory that a message, or a step of a collective, is read from or
// written to. A Mem is contiguous memory, or a range of the packed form of elements of a
// datatype; byte i of a packed form takes the place of byte i of a slice, so that protocols
// and algorithms know no difference.
//
// A Mem is a value of four words, which Go passes in registers and nobody has to keep
// alive. It says where the bytes are and nothing about what they mean: what a message tells of
// its elements belongs to the message.
//
// A fast path looks at the memory once, at the top:
//
//	if b, ok := m.Bytes(); ok { ... }     // contiguous
//	m.Pack(frame, pos)                    // any
//
// The trap: a range that Cut makes is not checked against the memory, only against the Mem
// it is cut from. Whoever makes the first Mem answers for it; dtype.Buffer, which In takes,
// has been checked.
package mem
