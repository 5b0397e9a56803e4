// Package syncobject has the parts of the synchronisation objects of one-sided communication
// (Ritzdorf, 2008) that do not depend on a window: their handles, their numbers, and the rules of a
// request that waits for signals.
//
// A synchronisation object is one of the counters of a window. Its process waits, by a persistent
// request, for count signals; others signal it by persistent requests when their operations are
// complete.
//
// In the proposal a counter counts from count down to 0, and Start sets it to count: a signal that
// comes before Start is lost. Here a signal adds 1, and a request that has received count signals
// subtracts count. So the value of the proposal's counter is count minus the value here; signals that
// come early, even before the request exists, count for the next Start; and no process stores to a
// word to which others add. More early signals than count give class.WinCounter: a process signals
// more often than this process waits. A strict request follows the proposal, to detect programs that
// rely on early signals: signals that Start would have lost give class.WinCounter.
//
// Package rma uses it: rma has the counters, waits for them, and detects when operations are
// complete (rma/syncobject.go, rma/syncobject_ops.go).
//
// The trap: the package does not lock. The lock of the engine guards a Table and the Waits of its
// objects.
package syncobject
