// Package enginetest starts job engines for tests: Slurm with two nodes on this machine, Open MPI's
// mpirun, and Hydra. Tests of boot/joined, launch and conformance/run use it.
//
// A test runs a program under an engine with Run, which returns all output. What an engine needs lies
// in a directory of the test, its daemons listen on free ports, and they end with the test, also if
// its process is killed: a shell holds each one and the other end of a pipe to the test.
//
// The trap: a test skips with -short, where the engine is not installed, and for Slurm without root's rights. A run
// that passes may have tried no engine: go test -v says which.
package enginetest
