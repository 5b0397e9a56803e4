// Package abi holds the tables of the C library: every procedure, constant and callback of
// the MPI-5.0 standard ABI and of Halo's extensions, and the call of package mpi that
// implements each procedure. Only generators read it: abi/generate and abi/fortran. No rank
// contains the tables.
//
// procedures.csv has one row for each procedure of C: name, type of the result,
// parameters as in C, the call, the name in Go, and its traits. go run ./abi/generate generates from it the
// header mpi.h, the symbols of the library (abi/lib), the Go functions behind them (abi/bind),
// and the numbers of the calls (internal/call).
//
// The name in Go is that in errors of package mpi. It is empty where it is the name in C without
// the prefix and the underscores, as in CommSpawn for MPI_Comm_spawn. calls.csv has the calls that
// are not a procedure's: an identifier, the name in Go if it differs, the name in C if there is
// one, and its traits.
//
// The traits say what kind of call it is, by which the packages of the engine treat it: internal/call
// defines them. A form with large counts has those of the form without.
//
// The call of a procedure is a Go expression. Names of parameters in it stand for their
// values, converted by the C type: int, MPI_Count and addresses become numbers, handles
// become the objects they refer to. "->" assigns the results of the expression, the last
// of which is an error, to output parameters; "=>" does the same where the expression
// returns no error. "MPI_X_c" uses the call of "MPI_X" if both have the same number of
// parameters. A procedure without a call is not implemented yet: it returns
// MPI_ERR_UNSUPPORTED_OPERATION.
//
// purposes.csv, parameters.csv and keys.csv contain what the manual pages say of procedures, of
// their parameters and of info keys.
//
// The trap: C and Go identify a procedure by its position in the table (Procedure.Number). A row
// that is added or moved renumbers those behind it, so that all generated files change together. A
// test of abi/generate generates again and compares.
package abi
