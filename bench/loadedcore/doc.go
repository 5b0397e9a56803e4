// Loadedcore measures what it costs to wait on a core that somebody else computes on, too, and on one that is idle.
//
//	go run ./bench/loadedcore [-quick]
//
// It is for developers who change how a rank waits: the times that a Machine of internal/proc/waitsim needs
// are measured here. It starts strangers, processes that compute on one core until they are killed, and measures
// beside them for some seconds: docs/waiting.md has the figures of one machine, and what follows from them. For
// example, a wake-up by futex took 23 us there on a core that had been idle for 0.1 ms, and a yield beside a
// stranger 3,850 us if the core was lost. It runs on Linux only.
//
// The trap: it measures the machine with everything else that runs on it. Beside other programs the figures are
// those of more strangers than it has started, and cannot be compared with those on the page.
package main
