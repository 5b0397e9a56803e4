// Package dtype is the datatype engine (MPI-5, chapter 5): layouts of memory, how
// they are packed, described, compared and converted. It knows no processes.
//
// # Types
//
// A Type is immutable but for its name and for being committed, so that it needs
// no reference counting: a message in flight holds the *Type, whatever became of
// the handle, and the garbage collector does the rest. MPI_DATATYPE_NULL is nil.
// Predefined makes the Set of predefined types; the caller keeps one (nothing in
// here is global), and with it the caches of F90Real and its like, ValueIndex and Of.
// ID has the values of the MPI-5 ABI, so Set.Type(ID(handle)) serves C.
//
// Constructors are functions (Contiguous, Vector ... Darray, Resized, Dup); counts
// and displacements are int64. Names, argument checks and error classes are the
// standard's; what overflows 64 bits is MPI_ERR_VALUE_TOO_LARGE. The caller adds
// the name of the call to errors.
//
// # Use
//
//	b, err := dtype.Bind(mem, origin, t, count)  // checks committed, count, bounds, once
//	n := b.Pack(frame, pos)                      // bytes pos, pos+1 ... of the packed form
//	n := b.Unpack(frame, pos)
//	if p, ok := b.Contiguous(); ok { ... }       // no packing needed
//	if b.Gathers() { n, next := b.Slices(iov, pos, limit) } // nor here: long blocks
//
// A position in a transfer is the number of bytes done: any byte is a place to
// resume, at the cost of one descent through the loops of the type. A Buffer is a
// value, and none of this allocates. For C, At takes an address without bounds
// (nil is MPI_BOTTOM); a type with absolute addresses works there.
//
// Receivers ask b.Overlaps once. With HALO_CHECK=1 a sender adds t.Signature(count)
// to its envelope and the receiver calls Signature.Check, which names types and
// counts; Describe is what a rank tells another of its side. Elements and Count
// answer MPI_Get_elements and MPI_Get_count. PackExternal and UnpackExternal speak
// external32. Envelope and contents are Type.Contents and LargeContents.
//
// # Speed
//
// All work ends in strides, n blocks of one size at two distances, and mover, a run of
// bytes. Blocks of up to 32 bytes are loops in Go, longer ones vectors, long runs the
// string instruction, which the program gen writes for amd64. What counts beyond that
// is how the caches are met: stores at strides of 1 KiB are kept from waiting in too
// great a number (sparse), words that lie in a line each are asked for ahead
// (farWords), arrays of structs go field by field in tiles (columns), and long runs
// alternately up and down (mover.sweep).
//
// # Addresses
//
// The trap: to the garbage collector a type with absolute addresses is numbers.
// Who binds one with At keeps the objects alive, and none may be on the stack of a
// goroutine, which moves.
package dtype
