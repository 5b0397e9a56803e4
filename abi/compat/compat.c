/* The compatibility library, libmpi_compat: each procedure calls its replacement by the MPI name,
 * so that tools can intercept that call. It needs only the standard ABI, and works with any library
 * that implements it. */
#include <stdlib.h>
#include <string.h>

#define MPI_COMPAT_LIBRARY
#include "mpi_compat.h"

#define ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

const char mpi_compat_lb = 0, mpi_compat_ub = 0;

int PMPI_Address(void *location, MPI_Aint *address) { return MPI_Get_address(location, address); }
ALIAS(MPI_Address)

int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler) {
	return MPI_Comm_create_errhandler(function, errhandler);
}
ALIAS(MPI_Errhandler_create)

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler) { return MPI_Comm_get_errhandler(comm, errhandler); }
ALIAS(MPI_Errhandler_get)

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) { return MPI_Comm_set_errhandler(comm, errhandler); }
ALIAS(MPI_Errhandler_set)

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent) {
	MPI_Aint lb;
	return MPI_Type_get_extent(datatype, &lb, extent);
}
ALIAS(MPI_Type_extent)

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement) {
	MPI_Aint extent;
	return MPI_Type_get_extent(datatype, displacement, &extent);
}
ALIAS(MPI_Type_lb)

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement) {
	MPI_Aint lb = 0, extent = 0;
	int code = MPI_Type_get_extent(datatype, &lb, displacement ? &extent : NULL);
	if (code == MPI_SUCCESS) *displacement = lb + extent;
	return code;
}
ALIAS(MPI_Type_ub)

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
ALIAS(MPI_Type_hvector)

int PMPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
ALIAS(MPI_Type_hindexed)

int PMPIX_Delete_error_class(int errorclass) { return MPI_Remove_error_class(errorclass); }
ALIAS(MPIX_Delete_error_class)

int PMPIX_Delete_error_code(int errorcode) { return MPI_Remove_error_code(errorcode); }
ALIAS(MPIX_Delete_error_code)

int PMPIX_Delete_error_string(int errorcode) { return MPI_Remove_error_string(errorcode); }
ALIAS(MPIX_Delete_error_string)

/* bound is a bound that markers define: the lowest MPI_LB, or the highest MPI_UB. */
struct bound {
	int given;
	MPI_Aint at;
};

static void mark(struct bound *b, MPI_Aint at, int lower) {
	if (!b->given || (lower ? at < b->at : at > b->at)) b->at = at;
	b->given = 1;
}

/* Makes the type without its markers, and resizes it to the bounds that the markers define. */
int mpi_compat_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype) {
	struct bound low = {0, 0}, high = {0, 0};
	int n = 0, code;
	for (int i = 0; array_of_types && i < count; i++) n += array_of_types[i] == MPI_LB || array_of_types[i] == MPI_UB;
	if (n == 0 || !array_of_blocklengths || !array_of_displacements) /* no markers, or the call raises the error */
		return MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);

	int *lengths = malloc((size_t)count * sizeof *lengths);
	MPI_Aint *places = malloc((size_t)count * sizeof *places), lb, extent;
	MPI_Datatype *types = malloc((size_t)count * sizeof *types), plain = MPI_DATATYPE_NULL;
	n = 0;
	for (int i = 0; lengths && places && types && i < count; i++) {
		if (array_of_types[i] == MPI_LB || array_of_types[i] == MPI_UB) {
			int lower = array_of_types[i] == MPI_LB;
			if (array_of_blocklengths[i] > 0) mark(lower ? &low : &high, array_of_displacements[i], lower);
			continue;
		}
		lengths[n] = array_of_blocklengths[i];
		places[n] = array_of_displacements[i];
		types[n++] = array_of_types[i];
	}
	if (!lengths || !places || !types)
		code = MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM) == MPI_SUCCESS ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
	else
		code = MPI_Type_create_struct(n, lengths, places, types, &plain);
	free(lengths);
	free(places);
	free(types);
	if (code == MPI_SUCCESS) code = MPI_Type_get_extent(plain, &lb, &extent);
	if (code == MPI_SUCCESS) {
		MPI_Aint from = low.given ? low.at : lb, to = high.given ? high.at : lb + extent;
		code = MPI_Type_create_resized(plain, from, to - from, newtype);
	}
	if (plain != MPI_DATATYPE_NULL) {
		int freed = MPI_Type_free(&plain);
		if (code == MPI_SUCCESS) code = freed;
	}
	return code;
}

int PMPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[], MPI_Datatype *newtype) {
	return mpi_compat_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}
ALIAS(MPI_Type_struct)

int mpi_compat_get_name(MPI_Datatype datatype, char *type_name, int *resultlen) {
	if ((datatype != MPI_LB && datatype != MPI_UB) || !type_name || !resultlen)
		return MPI_Type_get_name(datatype, type_name, resultlen);
	strcpy(type_name, datatype == MPI_LB ? "MPI_LB" : "MPI_UB");
	*resultlen = (int)strlen(type_name);
	return MPI_SUCCESS;
}
