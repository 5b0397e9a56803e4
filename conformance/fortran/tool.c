/* The part of tool.f90 in C: it counts the calls of MPI_Send. */
#include <mpi.h>

static int sent;

int sent_in_c(void);
int sent_in_c(void) { return sent; }

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
	sent++;
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
