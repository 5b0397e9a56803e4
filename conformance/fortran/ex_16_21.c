#include <mpi.h>

void x_type_commit_(MPI_Fint *f_handle, MPI_Fint *ierr);

void x_type_commit_(MPI_Fint *f_handle, MPI_Fint *ierr)
{
	MPI_Datatype datatype = MPI_Type_f2c(*f_handle);
	*ierr = (MPI_Fint)MPI_Type_commit(&datatype);
	*f_handle = MPI_Type_c2f(datatype);
}
