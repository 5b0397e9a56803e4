// Package syncobject has the synchronisation objects of one-sided communication (Ritzdorf, 2008) as
// far as they need no window: their handles, their numbers, and the rules of a request that waits
// for signals.
//
// A synchronisation object is one of the counters of a window. Its process waits, by a persistent
// request, for count signals; others signal it by persistent requests when their operations are
// complete.
//
// The proposal counts from count down to 0, and Start sets the counter to count: a signal that
// comes before Start is lost. Here a signal adds 1, and a request for which count signals are there
// subtracts count. So the value of the proposal's counter is count minus ours; signals that come
// early, even before the request exists, are credit for the next Start; and no word is ever set
// that others add to. More credit than count is class.WinCounter: a process signals more often than
// this process waits. With strict a request does what the proposal says, to show programs that
// rely on early signals: those that Start would have lost are class.WinCounter.
//
// Package rma uses it: it has the counters, waits for them, and finds out when operations are
// complete (rma/syncobject.go, rma/syncobject_ops.go).
//
// The trap: nothing here locks. A Table and the Waits of its objects are guarded by the lock of the
// engine.
package syncobject
