/*
 * sentinel.c: the constants of Fortran that are recognised by their addresses. A program and the
 * modules declare them as variables in COMMON blocks, which the linker makes one with these.
 */
#include <limits.h>

#include "glue.h"

#define SENTINEL(name, symbol, cells) MPI_Fint symbol[cells] __attribute__((aligned(32)));
#include "sentinels.h"
#undef SENTINEL

#pragma weak MPI_F_STATUS_IGNORE
#pragma weak MPI_F_STATUSES_IGNORE
#pragma weak MPI_F08_STATUS_IGNORE
#pragma weak MPI_F08_STATUSES_IGNORE

static void fill(MPI_Fint *cells, size_t n, MPI_Fint value) {
	for (size_t k = 0; k < n; k++)
		cells[k] = value;
}

/* Gives the variables values that are no handle, count or rank: one that is used as if it were data
 * makes a call fail. The variables can be in the program, so that no initialiser could do it. Tells
 * libmpi_f2c, if the program has it, where the statuses are. */
__attribute__((constructor)) static void begin(void) {
	MPI_Fint value = INT_MIN;
#define SENTINEL(name, symbol, cells) fill(symbol, cells, ++value);
#include "sentinels.h"
#undef SENTINEL
	if (&MPI_F_STATUS_IGNORE)
		MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
	if (&MPI_F_STATUSES_IGNORE)
		MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
	if (&MPI_F08_STATUS_IGNORE)
		MPI_F08_STATUS_IGNORE = (MPI_F08_status *)mpi_fortran_status_ignore_;
	if (&MPI_F08_STATUSES_IGNORE)
		MPI_F08_STATUSES_IGNORE = (MPI_F08_status *)mpi_fortran_statuses_ignore_;
}
