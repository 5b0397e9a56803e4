/* A tool that counts calls of MPI_Put, and prints their number. */
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Put(const void *origin, int n, MPI_Datatype type, int target, MPI_Aint at, int there, MPI_Datatype as, MPI_Win win) {
	calls++;
	return PMPI_Put(origin, n, type, target, at, there, as, win);
}

int MPI_Finalize(void) {
	fprintf(stderr, "MPI_Put was called %d times\n", calls);
	return PMPI_Finalize();
}
