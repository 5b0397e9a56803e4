// Package apply carries out one-sided operations on memory: by the origin itself where
// the target's memory is mapped, and by the target's service for what came as frames.
// Both call the same functions, so that accumulates by different ways are atomic with
// each other (MPI-5, 12.7.1).
//
// What is atomic: each element of an accumulate, fetch-and-op or compare-and-swap with
// respect to all others on elements of the same size that begin at the same byte,
// whatever the operations, the types and the lengths. Elements of 1, 2, 4, 8 and 16
// bytes at their natural alignment go by atomic operations of the processor, when they
// are few; more, wider and misaligned ones under the writer's lock of their stripe
// (shmfmt.Stripes), by vectors.
//
// The trap: put and get are copies. They are atomic with nothing.
package apply
