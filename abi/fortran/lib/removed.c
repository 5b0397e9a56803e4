/*
 * removed.c: procedures that MPI-3.0 has removed from mpif.h, for programs that still call them. They
 * are in no module. Addresses and displacements are INTEGERs: an address that needs more bits is
 * MPI_ERR_ARG.
 */
#include "byhand.h"

/* Stores an address as an INTEGER. */
static int narrow(int code, MPI_Aint value, MPI_Fint *to) {
	if (code != MPI_SUCCESS)
		return code;
	*to = (MPI_Fint)value;
	return *to == value ? MPI_SUCCESS : halo_raise(HALO_NONE, 0, MPI_ERR_ARG, "%lld does not fit an INTEGER: a call with INTEGER(KIND=MPI_ADDRESS_KIND) returns it", (long long)value);
}

void pmpi_address_(void *location, MPI_Fint *address, MPI_Fint *ierror) {
	MPI_Aint a = 0;
	int code = MPI_Get_address(halo_buffer(location), &a);
	code = narrow(code, a, address);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_address_, pmpi_address_)

#define BOUND(x, first, second, value) \
	void pmpi_type_##x##_(MPI_Fint *datatype, MPI_Fint *result, MPI_Fint *ierror) { \
		MPI_Aint first = 0, second = 0; \
		int code = MPI_Type_get_extent(in_MPI_Datatype(*datatype), &first, &second); \
		code = narrow(code, value, result); \
		HALO_RETURN(code); \
	} \
	HALO_ALIAS(mpi_type_##x##_, pmpi_type_##x##_)
BOUND(extent, lb, extent, extent)
BOUND(lb, lb, extent, lb)
BOUND(ub, lb, extent, lb + extent)

void pmpi_type_hvector_(MPI_Fint *count, MPI_Fint *blocklength, MPI_Fint *stride, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror) {
	MPI_Datatype c = MPI_DATATYPE_NULL;
	int code = MPI_Type_create_hvector(*count, *blocklength, *stride, in_MPI_Datatype(*oldtype), &c);
	*newtype = out_MPI_Datatype(c);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_type_hvector_, pmpi_type_hvector_)

void pmpi_type_hindexed_(MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *displacements, MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror) {
	MPI_Datatype c = MPI_DATATYPE_NULL;
	HALO_ARRAY(MPI_Aint, wide, *count, 1);
	for (size_t k = 0; k < n_wide; k++)
		wide[k] = displacements[k];
	int code = MPI_Type_create_hindexed(*count, lengths, wide, in_MPI_Datatype(*oldtype), &c);
	HALO_ARRAY_END(wide);
	*newtype = out_MPI_Datatype(c);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_type_hindexed_, pmpi_type_hindexed_)

void pmpi_type_struct_(MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *displacements, MPI_Fint *types, MPI_Fint *newtype, MPI_Fint *ierror) {
	MPI_Datatype c = MPI_DATATYPE_NULL;
	HALO_ARRAY(MPI_Aint, wide, *count, 1);
	HALO_ARRAY(MPI_Datatype, c_types, *count, 1);
	for (size_t k = 0; k < n_wide; k++) {
		wide[k] = displacements[k];
		c_types[k] = in_MPI_Datatype(types[k]);
	}
	int code = MPI_Type_create_struct(*count, lengths, wide, c_types, &c);
	HALO_ARRAY_END(wide);
	HALO_ARRAY_END(c_types);
	*newtype = out_MPI_Datatype(c);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_type_struct_, pmpi_type_struct_)

/* The former names of the calls of error handlers of communicators. */
void pmpi_comm_create_errhandler_(halo_function *, MPI_Fint *, MPI_Fint *);
void pmpi_comm_get_errhandler_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
void pmpi_comm_set_errhandler_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
void pmpi_errhandler_create_(halo_function *f, MPI_Fint *errhandler, MPI_Fint *ierror) { pmpi_comm_create_errhandler_(f, errhandler, ierror); }
void pmpi_errhandler_get_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror) { pmpi_comm_get_errhandler_(comm, errhandler, ierror); }
void pmpi_errhandler_set_(MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror) { pmpi_comm_set_errhandler_(comm, errhandler, ierror); }
HALO_ALIAS(mpi_errhandler_create_, pmpi_errhandler_create_)
HALO_ALIAS(mpi_errhandler_get_, pmpi_errhandler_get_)
HALO_ALIAS(mpi_errhandler_set_, pmpi_errhandler_set_)
