// Package mem describes the memory that a message, or a step of a collective, is read from or
// written to. A Mem is contiguous memory, or a range of the packed form of elements of a
// datatype. Protocols and algorithms treat byte i of a packed form like byte i of a slice. Package mpi makes one of
// each buffer of a call; p2p, part, coll, rma/check and file take it.
//
// A Mem is a value of four words, which Go passes in registers. It says where the bytes are,
// but not what they mean: the type that a message announces belongs to the message.
//
// A fast path looks at the memory once, at the top:
//
//	if b, ok := m.Bytes(); ok { ... }     // contiguous
//	m.Pack(frame, pos)                    // any
//
// The trap: Cut checks a range against the Mem it is cut from, not against the memory. The
// caller that makes the first Mem guarantees that its memory exists. In takes a dtype.Buffer,
// whose bounds Bind has checked.
package mem
