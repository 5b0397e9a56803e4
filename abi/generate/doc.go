// Generate writes the files that are generated from the tables of package abi: the header, the
// symbols of the C library, and the Go functions behind them. People run it after a change of a
// table, and the build of the library for what only an installation has.
//
//	go run ./abi/generate [-C DIR]
//
// DIR is the folder abi. The manual pages are generated when the library is installed: those of
// procedures to MAN/man3, and those of the programs in BIN to MAN/man1:
//
//	go run ./abi/generate -man MAN [-bin BIN]
//
// The file of suppressions for valgrind is generated then, too:
//
//	go run ./abi/generate -supp FILE
//
// So are the sources of the Fortran library, except those that are written by hand:
//
//	go run ./abi/generate -fortran DIR
//
// The first trap: the tables are not the only input. Records and constants that C and Go share are
// read from the packages of the engine, which this program imports (fast.go). A change
// of such a record there needs a run of this program, too; a test compares.
//
// The second one: a generated function must not add a level of calls. At the depth of calls from C
// each further call takes about 12 ns instead of 1 (functions.go).
package main
