// Package check is the checking mode of one-sided communication (HALO_CHECK=1): before each access to a window it compares
// the access with those that it may be concurrent with, and reports pairs that conflict by the rules of MPI-5, section
// 12.7. It reports errors that every run of the program has, and none that depend on the timing of a run.
//
// Package rma uses it: a window whose members all check has a Window of this package. Package rma calls Begin before an
// operation, Issued after it, and End and Ended before and after each synchronisation. The checker uses a window and its
// engine through Host; it does not know targets, frames or epochs.
//
// The target of accesses keeps a log of those that are not known to be complete (entry). An origin sends a question to the
// target (question) and waits for the answer: if the access conflicts with one in the log, the call fails and nothing is
// accessed; otherwise the access is in the log from then on. Two accesses in the log are concurrent
//
//   - in epochs of Fence, if the same number of fences ended before them: none is complete before the next fence;
//   - in epochs of Start, always: the target's Wait completes them, and the log drops them, gets included, when Wait has
//     returned. Complete checks accesses that are issued before the target has posted;
//   - in epochs of Lock and LockAll, as long as they are in the log: an origin has its accesses removed before the call
//     that completes them returns, and before it releases a lock. Therefore the checker need not trace locks or messages.
//
// Accesses of different kinds of epochs are not compared. A get with a request is complete when the program has waited for
// the request. Only its origin knows that, so the origin is asked. The origin records the memory of its own operations
// until they are complete there (Pending): memory that is sent must not change until then, and memory that is fetched into
// must not be used by another operation, nor by the program, which gets the result no sooner (result).
//
// The checker knows the loads and stores that the program declares (Window.Access). It compares them with the log, and
// keeps them in the log only while they last, because a message may order them before later accesses. The same holds for
// operations that notify their target, which may know at once that they are complete and tell others. Snapshots detect
// undeclared stores (snapshot).
//
// The trap: all state is guarded by the lock of the engine, and Host.Ask takes it. Functions whose comment says "The lock
// is held" must not ask.
package check
