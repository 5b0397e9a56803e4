#include <mpi.h>

void c_routine_(MPI_Fint *ftype);

void c_routine_(MPI_Fint *ftype)
{
	int count = 5;
	int lens[2] = {1, 1};
	MPI_Aint displs[2];
	MPI_Datatype types[2], newtype;

	/* create an absolute datatype for a buffer that consists of count, followed by r(5) */
	MPI_Get_address(&count, &displs[0]);
	displs[1] = 0;
	types[0] = MPI_INT;
	types[1] = MPI_Type_f2c(*ftype);
	MPI_Type_create_struct(2, lens, displs, types, &newtype);
	MPI_Type_commit(&newtype);

	/* the message has an int count of 5, followed by the 5 REAL entries of the array r */
	MPI_Send(MPI_BOTTOM, 1, newtype, 1, 0, MPI_COMM_WORLD);
	MPI_Type_free(&newtype);
}
