// Package launch starts the processes of a job, on this host and others, connects
// them to each other, forwards their output, and ends all of them when one fails. It
// implements halo run and mpiexec; cmd/halo is its only caller.
//
// An agent does the work on each host (package agent): one is part of the launcher, and on
// each other host one runs in a process of its own, which ssh or a step of srun starts
// (package reach). The agents report events to the job, which makes all decisions in one
// loop. The job is what is here; what it starts where is data (package plan), and none of
// these packages knows of it. Package ps tells what the ranks of a job wait for.
//
// To start four ranks, and to end, takes some 19 ms, and to spawn a process 6 ms
// (docs/performance.md).
//
// Run is meant for a program that does nothing else: it takes over the
// signals and all children of its process. No object of a job has a name by which
// other users could open it, except the sockets of docs/launcher.md, whose callers are
// checked: memory is anonymous, sockets are pairs, and files (programs built from Go
// packages) are in a directory that only the user can read, which is removed at the end.
//
// However the launcher ends, its job ends. The kernel kills each rank when the
// thread that started it is gone, and a small process that outlives the
// launcher (agent.Warden) removes what the ranks themselves had started.
//
// The trap: only the goroutine of the loop may touch the state of a job and of an agent. All
// others, such as those that read a socket or wait for a time, pass it a function (Agent.post).
package launch
