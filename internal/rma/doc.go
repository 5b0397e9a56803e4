// Package rma is one-sided communication (MPI-5 chapter 12), written once.
//
// A Window is what its members share: regions, epochs, counts. A View is a Window
// with the info under which it is used. All calls are methods of View.
//
// # The way of an operation
//
// An operation is an Op: what it does, with which memory, where at the target, which completion
// its request stands for and whether it notifies. The forms of a verb differ in fields only, so that
// a new verb or form is written once. Issue carries out each of them; View.PutBytes and the other
// methods of short.go are short ways to the same for what costs a few nanoseconds.
//
// Issue checks target, epoch, bounds and types. Then:
//
//   - Memory that is mapped here (the own; windows made by Allocate and Shared, and
//     Create and Attach over memory of package memory, of processes of the node) is
//     accessed by the caller: a put is a copy, an accumulate atomics of package apply.
//     No lock is taken, no message sent, nothing allocated. See View.PutBytes.
//   - Other memory of a process on the node is accessed by the target itself, if the
//     operation is short and somebody there polls just then (offers); else it is read and
//     written by the kernel (process_vm), as long as blocks are long enough. What that
//     cannot do, accumulates among it, goes by frames.
//   - The rest goes by frames, which the target's service applies with the same code of
//     package apply, whatever its program does.
//
// An operation that may not be applied yet, because the target has not posted, waits in
// a queue of the target (deferred) and the call returns.
//
// # Locks
//
// Window.mu guards transitions of epochs and is never held while waiting; the engine's
// lock comes after it. Frame handlers hold the engine's lock. The way through mapped
// memory takes neither: it loads the Mode and the Gate of records (record.go).
//
// The trap: a handler of frames must not take Window.mu.
package rma
