/* The half in C of extensions.F90: the handle of a synchronisation object in Fortran is converted to that of C, goes
 * to one process, and that of another one is converted to Fortran. */
#include <mpi.h>

void exchanged_(MPI_Aint *mine, MPI_Aint *theirs, MPI_Fint *to, MPI_Fint *from);

void exchanged_(MPI_Aint *mine, MPI_Aint *theirs, MPI_Fint *to, MPI_Fint *from) {
	MPIX_Sync out = MPIX_Sync_f2c(*mine), in = MPIX_SYNC_NULL;
	MPI_Sendrecv(&out, 1, MPIX_HANDLE_SYNC, *to, 0, &in, 1, MPIX_HANDLE_SYNC, *from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	*theirs = MPIX_Sync_c2f(in);
	if (MPIX_Sync_f2c(*theirs) != in || MPIX_Sync_c2f(MPIX_SYNC_NULL) != 0)
		*theirs = 0;
}
