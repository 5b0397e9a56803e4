/* Null pointers for results, and numbers out of range (Halo). */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int v = 0;
	FAILS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
	FAILS(MPI_Comm_dup(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	FAILS(MPI_Isend(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	FAILS(MPI_Send(&v, -1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
	FAILS(MPI_Send(&v, 1, MPI_INT, -7, 0, MPI_COMM_SELF), MPI_ERR_RANK);
	FAILS(MPI_Send(&v, 1, MPI_INT, 0, -1, MPI_COMM_SELF), MPI_ERR_TAG);
	FAILS(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
	FAILS(MPI_Bcast(&v, 1, MPI_INT, 3, MPI_COMM_SELF), MPI_ERR_ROOT);
	FAILS(MPI_Type_contiguous(-1, MPI_INT, &(MPI_Datatype){MPI_DATATYPE_NULL}), MPI_ERR_COUNT);
	FAILS(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &v, &v), MPI_ERR_KEYVAL);
	int ints[2];
	MPI_Aint addresses[2];
	MPI_Datatype inner[2];
	MPI_Group all, g;
	FAILS(MPI_Type_get_contents(MPI_INT, 2, 2, 2, ints, addresses, inner), MPI_ERR_TYPE);
	OK(MPI_Comm_group(MPI_COMM_SELF, &all));
	FAILS(MPI_Group_incl(all, 2, (int[]){0, 0}, &g), MPI_ERR_RANK);
	OK(MPI_Group_free(&all));
	FAILS(MPI_Error_class(-99, &v), MPI_ERR_ARG);
	OK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
	return done();
}
