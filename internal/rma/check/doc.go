// Package check is the checking mode of one-sided communication (HALO_CHECK=1): it compares each
// access to a window with those that it may be concurrent with, before the access is made, and
// reports pairs that conflict by the rules of MPI-5, section 12.7. It reports what is wrong in every
// run, and nothing that only an assumption about time could tell.
//
// Package rma uses it: a window whose members all check has a Window of this package. It asks
// Begin before an operation, calls Issued behind it, and calls End and Ended around each
// synchronisation. What the checker needs of a window and its engine is Host; the checker knows
// neither targets, nor frames, nor epochs.
//
// # Design
//
// The target of accesses keeps a log of those that are not known to be complete (entry). An
// origin sends a question to the target (question) and waits for the answer: if the access conflicts
// with one in the log, the call fails and nothing is accessed; otherwise the access is in the log
// from then on. Two accesses in the log are concurrent
//
//   - of Fence, if the same number of fences ended before them: none is complete before the next;
//   - of Start, always: the log drops them, gets too, when the target's Wait has returned, which is
//     what completes them there. An access that is issued before the target has posted is checked by
//     Complete;
//   - of Lock and LockAll, as long as they are in the log: an origin has its own removed before the
//     call returns that completes them, and before it releases a lock. Therefore neither locks nor
//     messages need to be followed.
//
// Accesses of different kinds of epochs are not compared. A get with a request is complete when
// the program has waited for the request. Only its origin knows that, and is asked.
//
// The origin records the memory of its own operations until they are complete there (Pending).
// Memory that is sent must not change until then. Memory that is fetched into must not be used by
// another operation, nor by the program, which gets the result no sooner (result).
//
// Loads and stores are seen where the program declares them (Window.Access). They are compared with
// the log, and are in it while they last, not longer: a message may order them before what comes
// next. The same holds for operations that notify their target, which may know at once that they are
// complete and tell others. Stores that the program does not declare are found by their effect
// (snapshot).
//
// The trap: all state is guarded by the lock of the engine, and Host.Ask takes it. Functions
// whose comment says "The lock is held" must not ask.
package check
