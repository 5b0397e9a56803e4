// Halo is the command of the Halo MPI library: it starts programs, measures, and
// tells about this machine. Called as mpiexec or mpirun it is halo run.
//
// Each command is a file, and commands lists them: run and ps use internal/launch, bench the loops in
// internal/benchmark below this folder, sim internal/replay. info prints tunables and algorithms of the engine's
// packages. The folder is the place for command lines and for text; what a launcher does is in internal/launch.
//
// The trap: the launcher starts this program again as its agents, as the process that cleans up, and more. So
// main calls launch.Subprocess before anything else, and nothing may happen before that call: no flag is parsed,
// nothing is printed, no file is opened.
package main
