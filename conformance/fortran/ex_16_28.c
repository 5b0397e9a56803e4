#include <mpi.h>

void c_routine_(MPI_Fint *fhandle);

void c_routine_(MPI_Fint *fhandle)
{
	MPI_Datatype type;
	MPI_Status status;

	type = MPI_Type_f2c(*fhandle);

	MPI_Recv(MPI_BOTTOM, 1, type, 0, 0, MPI_COMM_WORLD, &status);
}
