// Package lock decides which origins on other nodes have the lock of a window's memory at one target. It is a state
// machine: its inputs are requests, returns and deaths, its outputs are the calls of Claim. It has no frames, clocks or
// goroutines, and never waits. Package rma moves the frames, and guards a Service by the engine's lock.
//
// The lock itself is in shared memory (shmfmt.Lock). Processes of the target's node claim it for themselves; a Service
// makes one claim beside theirs for all others.
//
// The trap: whoever changes a Service, or hears that a claim of the node has changed, has to call Step.
package lock
