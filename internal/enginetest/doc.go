// Package enginetest starts job engines for tests: Slurm with two nodes on this machine, Open MPI's
// mpirun, and Hydra.
//
// A test runs a program under an engine with Run, which returns all output. What an engine needs lies
// in a directory of the test, its daemons listen on free ports, and they end with the test, also if
// its process is killed: a shell holds each one and the other end of a pipe to the test.
package enginetest
