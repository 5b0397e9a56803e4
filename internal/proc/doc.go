// Package proc is one MPI process: its identity, its fabrics, and the engine that
// makes progress. A Proc holds all state of a process, so that n processes can be
// goroutines of one OS process.
//
// The engine has one lock. The goroutine that holds it may read and change any state
// of the process: matching, requests, send queues. It is held for a few hundred
// nanoseconds at a time, except by a goroutine that waits: the waiter is the poller
// and keeps the lock while it polls, but yields it as soon as another goroutine wants
// it.
//
// # Waiting
//
// One goroutine polls at a time. Other waiters are parked; they are woken when their
// event happens, or to take over when the poller leaves. A poller first polls without
// a pause, then yields the core between polls, then parks too (adaptive spin with
// back-off). Before it parks it arms the fabrics, so that peers ring the doorbell when
// they send, polls once more, and leaves the rest to the service.
//
// # Service
//
// One service goroutine per fabric sleeps in the fabric until something arrives. It
// makes progress when nobody polls: it applies what peers send and advances long
// transfers while the program computes.
//
// # Polling and interrupt mode
//
// Arming after every call would transfer the cache line of the armed flag twice per
// message, which costs as much as the message itself. Therefore a process that calls
// often is in polling mode: the fabrics stay disarmed between calls. A watchdog checks
// on every tick whether the process still calls. If it does not, the process returns
// to interrupt mode, in which it arms after each call and has no timer.
package proc
