// Package proc is one MPI process: its identity, its fabrics, and the engine that makes progress. A Proc holds all state
// of a process, so that n processes can be goroutines of one OS process. Package world opens it; p2p, coll, part, rma, file
// and meet run in it.
//
// The engine has one lock. The goroutine that holds it may read and change any state of the process: matching, requests,
// send queues. It is held for a few hundred nanoseconds at a time, except by a goroutine that waits: the waiter is the
// poller and keeps the lock while it polls, but yields it as soon as another goroutine wants it.
//
// One goroutine polls at a time. Other waiters are parked; they are woken when their event happens, or to take over when
// the poller leaves. A poller first polls without a pause, then yields the core between polls, then parks too (adaptive
// spin with back-off; see Policy). Before it parks it arms the fabrics, so that peers ring the doorbell when they send,
// polls once more, and leaves the rest to the service.
//
// One service goroutine per fabric sleeps in the fabric until something arrives. It makes progress when nobody polls: it
// applies what peers send and advances long transfers while the program computes.
//
// Arming after every call would transfer the cache line of the armed flag twice per message, which costs as much as the
// message itself. Therefore a process that calls often is in polling mode: the fabrics stay disarmed between calls. A
// watchdog checks on every tick whether the process still calls. If it does not, the process returns to interrupt mode,
// in which it arms after each call and has no timer.
//
// A wake-up by futex takes 23 us on a core that has been idle for 0.1 ms (docs/waiting.md), which is why a waiter polls
// first.
//
// The trap: whoever waits gives up the lock in between. What was read under it before, such as an entry of a table or the
// state of a peer, may have changed when the wait returns, and has to be looked up again.
package proc
