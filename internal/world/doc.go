// Package world starts and ends one MPI process: Open connects it to its job, opens the fabrics and
// starts the engine, which the world model and sessions share; Join makes the predefined
// communicators when the process joins the world model; Close closes all in order. Package mpi, and mpitest for ranks
// that are goroutines (RunGoroutines, RunJobs, RunSimulated), use the World that it returns.
//
// It is the one place that knows all parts: which fabric carries what (reach), how waiters wait (processPolicy), how
// many Ps the runtime gets (threadPs), and which engine is told of the death of a process.
//
// Four ranks are launched, initialised and ended in some 19 ms; a rank of 64 has 1.4 MiB of memory of its own then
// (docs/performance.md, "init" and "memory").
//
// The trap: a World may exist without the world model. Comm is nil until Join, and stays nil in a process
// that only opens sessions; such a process must not wait for others, which may never call MPI.
package world
