// Package joined connects a process to its job, whoever started it: Halo's launcher, a job engine
// (Slurm, Hydra, Open MPI's mpirun, by PMI-1, PMI-2 or PMIx), or somebody who sets environment variables. Package
// mpi calls it once, when a program initialises MPI or opens its first session.
//
// Halo's launcher serves the processes of its job itself: see package boot. Under a job engine nobody
// does, so one process of each node serves the others of that node, with the same server and the same
// frames. It is called the leader of its node. The first process that calls MPI becomes it, because the
// kernel gives it the name of a socket that the others then find. The leaders connect to each other as
// a tree, in the first Exchange, and all later communication of the job's wire-up uses these
// connections. A job engine sees one value for each node, and one for each process that opens a session.
//
// No secret goes through the engine. Each process has a pair of X25519 keys, and leaders and processes
// publish their public keys with their addresses.
//
// The trap: a leader is a process of the program, and may end before the others of its node. See
// Process for what follows.
package joined
