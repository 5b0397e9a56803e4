/* datarep.c: data representations of files. A representation exists until the program ends, and so
 * does what its functions get. */
#include "byhand.h"

typedef void(extent_function)(MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *);
typedef void(conversion_function)(void *, MPI_Fint *, MPI_Fint *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *);
typedef void(conversion_function_c)(void *, MPI_Fint *, MPI_Count *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *);

struct datarep {
	halo_function *read, *write, *extent;
	MPI_Aint state;
};

/* The predefined functions: those of mpif.h and the module mpi, and the names that gfortran and flang
 * give to those of mpi_f08. */
void mpi_conversion_fn_null_(void *user, MPI_Fint *type, MPI_Fint *count, void *file, MPI_Offset *position, MPI_Aint *state, MPI_Fint *ierror) {
	(void)user, (void)type, (void)count, (void)file, (void)position, (void)state;
	*ierror = MPI_ERR_CONVERSION;
}
void mpi_conversion_fn_null_c_(void *user, MPI_Fint *type, MPI_Count *count, void *file, MPI_Offset *position, MPI_Aint *state, MPI_Fint *ierror) {
	(void)user, (void)type, (void)count, (void)file, (void)position, (void)state;
	*ierror = MPI_ERR_CONVERSION;
}
extern halo_function __mpi_f08_MOD_mpi_conversion_fn_null __attribute__((weak)), _QMmpi_f08Pmpi_conversion_fn_null __attribute__((weak));
extern halo_function __mpi_f08_MOD_mpi_conversion_fn_null_c __attribute__((weak)), _QMmpi_f08Pmpi_conversion_fn_null_c __attribute__((weak));

static int none(halo_function *f) {
	return f == (halo_function *)mpi_conversion_fn_null_ || f == __mpi_f08_MOD_mpi_conversion_fn_null || f == _QMmpi_f08Pmpi_conversion_fn_null
		|| f == (halo_function *)mpi_conversion_fn_null_c_ || f == __mpi_f08_MOD_mpi_conversion_fn_null_c || f == _QMmpi_f08Pmpi_conversion_fn_null_c;
}

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *p) {
	struct datarep *d = p;
	MPI_Fint handle = out_MPI_Datatype(type), code = MPI_SUCCESS;
	MPI_Aint state = d->state;
	((extent_function *)d->extent)(&handle, bytes, &state, &code);
	return code;
}

#define CONVERT(name, which, c, count_type, function_type) \
	static int name(void *user, MPI_Datatype type, c count, void *file, MPI_Offset position, void *p) { \
		struct datarep *d = p; \
		MPI_Fint handle = out_MPI_Datatype(type), code = MPI_SUCCESS; \
		count_type n = count; \
		MPI_Aint state = d->state; \
		((function_type *)d->which)(user, &handle, &n, file, &position, &state, &code); \
		return code; \
	}
CONVERT(convert_read, read, int, MPI_Fint, conversion_function)
CONVERT(convert_write, write, int, MPI_Fint, conversion_function)
CONVERT(convert_read_c, read, MPI_Count, MPI_Count, conversion_function_c)
CONVERT(convert_write_c, write, MPI_Count, MPI_Count, conversion_function_c)

#define REGISTER(function, call, reader, writer, null) \
	void function(char *datarep, halo_function *read, halo_function *write, halo_function *size, MPI_Aint *state, MPI_Fint *ierror, size_t n_datarep) { \
		struct datarep *d = halo_malloc(sizeof *d); \
		*d = (struct datarep){read, write, size, *state}; \
		char room[HALO_STRING], *c = halo_string(room, datarep, n_datarep); \
		int code = call(c, none(read) ? null : reader, none(write) ? null : writer, extent, d); \
		halo_string_end(room, c); \
		if (code != MPI_SUCCESS) \
			free(d); \
		HALO_RETURN(code); \
	}
REGISTER(pmpi_register_datarep_, MPI_Register_datarep, convert_read, convert_write, MPI_CONVERSION_FN_NULL)
HALO_NAMES(register_datarep)
REGISTER(pmpi_register_datarep_c_f08_, MPI_Register_datarep_c, convert_read_c, convert_write_c, MPI_CONVERSION_FN_NULL_C)
HALO_ALIAS(mpi_register_datarep_c_f08_, pmpi_register_datarep_c_f08_)
