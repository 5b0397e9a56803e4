// Package proc is one MPI process: its identity, its ways to its peers, and the
// engine that makes progress. All state of a process hangs off a Proc, so that
// n processes can live in one OS process as goroutines.
//
// The engine has one lock. Whoever holds it may look at and change any state of
// the process: matching, requests, backlogs. It is held for a few hundred
// nanoseconds at a time, except by a goroutine that waits: the waiter is the
// poller and keeps the lock while it polls, but gives it up as soon as another
// goroutine wants it.
//
// # Waiting
//
// One goroutine polls at a time; other waiters are parked and are woken when
// their event happens, or to take over when the poller leaves. A poller loads,
// then yields the core to other processes, then parks too: it arms the fabrics,
// so that peers ring when they send, polls once more, and leaves the rest to
// the service.
//
// # Service
//
// One service goroutine per fabric sleeps in the fabric until something
// arrives, and stands in when nobody polls: it applies what peers send and
// advances long transfers while the program computes.
//
// Arming after every call would cost the line of the armed flag twice per
// message, as much as the message itself. So a process that calls often is
// left hot: the fabrics stay disarmed between calls. A watch looks every tick
// whether there still are any, and if not wakes the services, which arm and go
// back to deep sleep. A process that calls seldom arms after each call, and
// nothing in it ticks.
package proc
