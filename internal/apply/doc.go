// Package apply carries out one-sided operations on memory: in the origin where the target's
// memory is mapped, and in the target for operations that arrive as frames. Both call the
// same functions, so that accumulates on different paths are atomic with respect to each
// other (MPI-5, 12.7.1). Package rma and its packages attach and memhandle use it.
//
// What is atomic: each element of an accumulate, fetch-and-op or compare-and-swap with
// respect to all others on elements of the same size that begin at the same byte,
// whatever the operations, the types and the lengths. Elements of 1, 2, 4, 8 and 16
// bytes at their natural alignment use atomic operations of the processor, if they are
// few. More, wider and misaligned elements use vector kernels under the writer's lock of
// their stripe (shmfmt.Stripes).
//
// One element costs one atomic operation and 4 ns (FetchOp), while this process alone uses the stripe.
//
// The trap: put and get are copies, which are not atomic with respect to anything. An accumulate may be interrupted by
// the death of its process between any two instructions, and must not leave half of an element behind.
package apply
