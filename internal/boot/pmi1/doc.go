// Package pmi1 is PMI-1: the messages between a process and the server of its job engine, as Hydra (the
// mpiexec of MPICH and Intel MPI) speaks it, and the pmi2 plugin of Slurm beside PMI-2. Package joined opens its
// Client; package launch has its Server, for programs of MPICH and Intel MPI under halo run.
//
// A process finds the descriptor of its connection in PMI_FD, or the address of the server in PMI_PORT.
// It sends one request at a time, a line of text each, and gets one line as the answer.
//
// The trap: servers store text, and do less with it than their answers say. Hydra cuts a value after 1024
// bytes or at a space, and reports success. See engine.CheckValue.
package pmi1
