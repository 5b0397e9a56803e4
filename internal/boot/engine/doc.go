// Package engine is the contract of job engines: what Halo uses of the PMI-1, PMI-2 or PMIx server
// that Slurm, Hydra or Open MPI's mpirun has for each process, and of its substitute where only
// environment variables exist. Packages pmi1, pmi2, pmix and rendezvous implement Client, and package joined uses
// it.
//
// Halo uses little of an engine. A process learns its place in the job, publishes at most one value,
// and reads the values of few others. Package joined makes connections of its own from these, and does
// all the rest over them. Two rules hold for everything that goes through an engine:
//
//   - No secret goes through it: other users of the engine's server may read what it stores.
//   - Nothing that comes out of it is trusted: it is parsed with limits, and checked.
//
// The trap: servers store text, and cut or destroy what they cannot store without an error. A key or a value is sent
// only if CheckKey and CheckValue permit it, whichever engine it is for.
package engine
