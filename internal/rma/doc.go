// Package rma is one-sided communication (MPI-5 chapter 12), written once for all fabrics. Package world opens an Engine;
// package mpi calls it, and package file has its shared pointers in windows.
//
// A Window is the state that its members share: regions, epochs, counts. A View is a Window with the hints under which it
// is used. All calls are methods of View. An operation is an operation.Op: its kind, its memory, its place at the target, the
// completion that its request stands for, and whether it notifies. The forms of a verb differ in fields only, so that a
// new verb or form is written once. Issue carries out each of them; View.PutBytes and the other functions of fastpath.go
// are fast paths to the same, for operations of a few nanoseconds.
//
// Issue checks target, epoch, bounds and types. Then:
//
//   - Memory that is mapped here is accessed by the caller: the own; windows made by Allocate and Shared; and Create and
//     Attach over memory of package store, of processes of the node. A put is a copy, an accumulate atomics of package
//     apply. No lock is taken, no message sent, nothing allocated. See View.PutBytes.
//   - Other memory of a process on the node is accessed by the target itself, if the operation is short and a thread
//     there polls at that moment (offer.go); else the kernel copies it (process_vm), if the blocks are long enough. The
//     rest, accumulates among it, goes by frames.
//   - All else goes by frames, which the target's service applies with the same code of package apply, whatever its
//     program does. What may not be applied yet, because the target has not posted, waits in a queue of the target
//     (deferred) and the call returns.
//
// A put of 8 bytes and a flush take 0.011 us in mapped memory, 0.6 us in other memory of the node and 8 us by frames
// through sockets of one host; an accumulate of a double takes 0.03 us (docs/performance.md).
//
// Files of issue and epochs: issue, fastpath, kernel, epoch, fence, pscw, lock. Frames that arrive: incoming. Dynamic windows:
// dynamic, handle. Extensions of the seeds: dup, changecomm, notification, counter, order, syncobject. Below are operation,
// what calls and frames say of operations; link, frames of the origin; serve, frames of the target; and attach, check, lock,
// memhandle, syncobject.
//
// Window.mu guards transitions of epochs and is never held while waiting; the engine's lock comes after it. Handlers of
// frames hold the engine's lock. The path through mapped memory takes neither: it loads the Mode and the Gate of records
// (record.go).
//
// The trap: a handler of frames must not take Window.mu.
package rma
