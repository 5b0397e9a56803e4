/*
 * libmpi_f2c implements mpi_f2c.h by MPI_X_toint and MPI_X_fromint of the standard ABI alone, so
 * that it works with any library of the ABI. It is a separate library because a library of the ABI
 * must not have other symbols that begin with MPI_.
 */
#include <stdio.h>
#include <string.h>

#include "mpi_f2c.h"

#define ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

#define HANDLE(name, type) \
	MPI_Fint PMPI_##name##_c2f(type handle) { return PMPI_##name##_toint(handle); } \
	type PMPI_##name##_f2c(MPI_Fint handle) { return PMPI_##name##_fromint(handle); } \
	ALIAS(MPI_##name##_c2f) \
	ALIAS(MPI_##name##_f2c)

HANDLE(Comm, MPI_Comm)
HANDLE(Errhandler, MPI_Errhandler)
HANDLE(File, MPI_File)
HANDLE(Group, MPI_Group)
HANDLE(Info, MPI_Info)
HANDLE(Message, MPI_Message)
HANDLE(Op, MPI_Op)
HANDLE(Request, MPI_Request)
HANDLE(Session, MPI_Session)
HANDLE(Type, MPI_Datatype)
HANDLE(Win, MPI_Win)

/*
 * Fortran's constants are unique addresses: those of these objects, to which a Fortran library binds
 * its variables by BIND(C, NAME="..."). They are in this library and not in the Fortran one, so that
 * C programs without Fortran can link with them, too.
 */
MPI_Fint mpi_f2c_status_ignore[MPI_F_STATUS_SIZE];
MPI_Fint mpi_f2c_statuses_ignore[MPI_F_STATUS_SIZE];
MPI_F08_status mpi_f2c_f08_status_ignore, mpi_f2c_f08_statuses_ignore;

MPI_Fint *MPI_F_STATUS_IGNORE = mpi_f2c_status_ignore;
MPI_Fint *MPI_F_STATUSES_IGNORE = mpi_f2c_statuses_ignore;
MPI_F08_status *MPI_F08_STATUS_IGNORE = &mpi_f2c_f08_status_ignore;
MPI_F08_status *MPI_F08_STATUSES_IGNORE = &mpi_f2c_f08_statuses_ignore;

/* All three kinds of statuses are eight ints in the same order. */
_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "MPI_Status");
_Static_assert(sizeof(MPI_F08_status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "MPI_F08_status");

static int ignored(const void *status) {
	return status == MPI_STATUS_IGNORE || status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE
		|| status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

/* Raises the error on MPI_COMM_SELF, like the errors of all calls without a communicator. */
static int refused(const char *call, const char *which) {
	int ready = 0, over = 1, code = MPI_ERR_ARG;
	char text[MPI_MAX_ERROR_STRING];
	PMPI_Initialized(&ready);
	PMPI_Finalized(&over);
	if (!ready || over)
		return MPI_ERR_ARG;
	snprintf(text, sizeof text, "%s: the %s is null or one of the constants to ignore statuses, and not a status", call, which);
	if (PMPI_Add_error_code(MPI_ERR_ARG, &code) == MPI_SUCCESS)
		PMPI_Add_error_string(code, text);
	PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
	return code;
}

#define STATUS(name, from, from_type, to, to_type) \
	int PMPI_Status_##name(const from_type *from, to_type *to) { \
		if (ignored(from)) \
			return refused("MPI_Status_" #name, #from); \
		if (ignored(to)) \
			return refused("MPI_Status_" #name, #to); \
		memcpy(to, from, sizeof(MPI_Status)); \
		return MPI_SUCCESS; \
	} \
	ALIAS(MPI_Status_##name)

STATUS(c2f, c_status, MPI_Status, f_status, MPI_Fint)
STATUS(f2c, f_status, MPI_Fint, c_status, MPI_Status)
STATUS(c2f08, c_status, MPI_Status, f08_status, MPI_F08_status)
STATUS(f082c, f08_status, MPI_F08_status, c_status, MPI_Status)
STATUS(f2f08, f_status, MPI_Fint, f08_status, MPI_F08_status)
STATUS(f082f, f08_status, MPI_F08_status, f_status, MPI_Fint)
