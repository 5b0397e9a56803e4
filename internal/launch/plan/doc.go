// Package plan says what a job starts where, as data: the command line of halo run and mpiexec (Parse, Help), lists of
// hosts and their slots, allocations of batch systems, the placement of ranks on hosts and cores, and the share of the
// job that the agent of a host gets.
//
// The launcher makes a Spec from the command line, places the ranks, and sends each agent a Share. The package
// starts no process, opens no socket and reads no clock. It reads only the environment and the files that a command line
// names.
//
// A Share travels between hosts. DecodeShare checks it as the input of a stranger: whatever is added to the encoding
// needs a check there, and another version of the frames.
package plan
