// Package sys is what Halo needs of the operating system and of the processor beyond package os: shared memory,
// futexes, epoll and raw sockets, memory of other processes, processes and their limits, cores and caches, instructions.
// It is the only package that imports golang.org/x/sys, which the lint checks. Most packages of the engine and the
// launcher use it; nothing in it knows MPI.
//
// A file has one noun, and its name says for which platform it is: NAME_linux.go beside NAME_other.go, which
// returns an error or does without. So the packages above have no build constraints for a system call.
//
// Some calls return at once whatever happens, and are made without notifying the Go scheduler, which saves some
// 50 ns each. Yield takes some 0.2 us where no other process wants the core; a sweep decision 10 ns (SweepDown).
//
// The trap: a system call of which the scheduler is not told keeps its P, and a garbage collection waits for it. Only
// calls that never wait may be made so. For copies the bound is briefCopy, some 5 us; beyond it the notification costs a
// hundredth. A new call goes the ordinary way unless a measurement and a bound say otherwise.
package sys
