// Package dtype is the datatype engine (MPI-5, chapter 5): layouts of memory, how they are packed, described, compared
// and converted. It knows no processes. Package mpi makes types with it, and mem, p2p, coll, part, rma and file move data by
// them; abi/bind hands out records of it to C.
//
// A Type is immutable except for its name and its committed state, so it needs no reference counting: a message in
// flight holds the *Type even after the handle is freed, and the garbage collector frees it. MPI_DATATYPE_NULL is nil.
// Predefined makes the Set of predefined types, which also caches the types of F90Real, F90Complex, F90Integer,
// ValueIndex and Of; the caller keeps one Set, as the package has no global state. ID has the values of the MPI-5 ABI, so
// Set.Type(ID(handle)) serves C.
//
// Constructors are functions (Contiguous, Vector ... Darray, Resized, Dup); counts and displacements are int64. Names,
// argument checks and error classes are the standard's; a size or bound that overflows 64 bits is
// MPI_ERR_VALUE_TOO_LARGE. The caller adds the name of the call to errors.
//
//	b, err := dtype.Bind(mem, origin, t, count)  // checks committed, count, bounds, once
//	n := b.Pack(frame, pos)                      // bytes pos, pos+1 ... of the packed form
//	n := b.Unpack(frame, pos)
//	if p, ok := b.Contiguous(); ok { ... }       // no packing needed
//	if b.Gathers() { n, next := b.Slices(iov, pos, limit) } // long blocks: no packing either
//
// A position in a transfer is the number of bytes done: a transfer can resume at any byte, at the cost of one descent
// through the loops of the type. A Buffer is a value, and none of this allocates. For C, At takes an address without
// bounds; with nil, which is MPI_BOTTOM, types may have absolute addresses. A receiver calls b.Overlaps once. Signature
// and Describe serve checking mode, Elements and Count the queries of a status, and PackExternal external32.
//
// 64 KiB are packed in 0.5 us if they are contiguous, in 0.7 to 1 us as rows or vectors, and in 5.7 us as single words
// far apart (docs/performance.md, "pack"). See mover for how bytes are copied.
//
// The trap: the garbage collector sees a type with absolute addresses as numbers. A caller that binds such a type with At
// must keep the objects alive, and none of them may be on the stack of a goroutine, which moves.
package dtype
