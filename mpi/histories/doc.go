// Package histories tests package mpi by random programs. A seed determines a program, which is
// the same on every fabric and is correct in MPI. An oracle that is independent of Halo says
// which outcomes the standard allows. There are these families:
//
//   - messages: point-to-point communication in several goroutines of each rank;
//   - layouts: messages between derived datatypes, by every call that sends or receives;
//   - onesided: windows, epochs, accesses, and the extensions of one-sided communication;
//   - partitioned: partitioned messages, marked by several goroutines;
//   - files: several handles of one file, views, and accesses of all families.
//
// The package contains only tests, which use what a program can use. A failure prints the
// command that runs its program again:
//
//	go test ./mpi/histories -run '^TestWindowHistories$' -replay shm@0110:4711
//
// runs the program of seed 4711 on four ranks, of which the second and third are on a separate
// host. -programs 20 runs the programs of 20 seeds. With HALO_HISTORY_SECONDS=600 a test runs
// programs of new seeds for 600 s on each fabric.
//
// The trap: a change of a generator changes the programs of all seeds, so that a command which
// replayed a bug no longer does.
package histories
