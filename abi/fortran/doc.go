// Package fortran generates the Fortran library: mpif.h, the modules mpi and mpi_f08, and the C
// functions behind them, one for each procedure and way of calling it. Its caller is abi/generate
// -fortran, which abi/fortran/build runs when it builds the library.
//
// The table of package abi has the procedures as C has them. parameters.csv adds what C does not
// say: for each procedure the parameters in Fortran, as "direction name(length) facts", where the
// facts are:
//
//	choice        a buffer of any type
//	string        CHARACTER(LEN=*); strings and lists are arrays of them with one and two dimensions
//	logical       a LOGICAL, which is an int in C
//	index         an index into an array, which counts from 1, and in C from 0
//	pointer       an address that the call returns: TYPE(C_PTR), or in the module mpi an integer, too
//	detached      the same, but the module mpi has a choice argument, which is left alone
//	function      a procedure of the program
//	state         what is passed on to such procedures
//	attribute     the value of an attribute
//	asynchronous  the call uses the buffer after it has returned
//	free          without INTENT in mpi_f08, since constants such as MPI_BOTTOM may be passed
//
// The type of every other parameter follows from the one in C.
//
// The trap: a procedure that is new in the table of package abi needs a row in parameters.csv, too.
// Without the fact asynchronous a compiler may move accesses to the buffer of a nonblocking
// operation across the call that completes it, which no test of a small program shows.
package fortran
