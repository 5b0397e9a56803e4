/* only.c: procedures that only Fortran has. */
#include "byhand.h"

/* A compiler cannot know that this does nothing: it keeps variables in memory across the call. */
void pmpi_f_sync_reg_(void *buf) { (void)buf; }
HALO_ALIAS(mpi_f_sync_reg_, pmpi_f_sync_reg_)
void pmpi_f_sync_reg_f08ts_(const halo_descriptor *buf) { (void)buf; }
HALO_ALIAS(mpi_f_sync_reg_f08ts_, pmpi_f_sync_reg_f08ts_)

/* Both kinds of statuses are eight integers in the same order. */
static int convert(const char *call, const MPI_Fint *from, MPI_Fint *to) {
	if (from == mpi_fortran_status_ignore_ || from == mpi_fortran_statuses_ignore_ || to == mpi_fortran_status_ignore_ || to == mpi_fortran_statuses_ignore_)
		return halo_raise(HALO_NONE, 0, MPI_ERR_ARG, "%s: a status is one of the constants to ignore statuses", call);
	memcpy(to, from, sizeof(MPI_Status));
	return MPI_SUCCESS;
}

void pmpi_status_f2f08_(MPI_Fint *f_status, MPI_Fint *f08_status, MPI_Fint *ierror) {
	int code = convert("MPI_Status_f2f08", f_status, f08_status);
	HALO_RETURN(code);
}
HALO_NAMES(status_f2f08)

void pmpi_status_f082f_(MPI_Fint *f08_status, MPI_Fint *f_status, MPI_Fint *ierror) {
	int code = convert("MPI_Status_f082f", f08_status, f_status);
	HALO_RETURN(code);
}
HALO_NAMES(status_f082f)
