/*
 * callback.c: operations and error handlers of the program. MPI calls a function of C, which calls the
 * program's procedure in Fortran's convention: handles are integers, and every argument is an address.
 *
 * The standard's functions of C for both have no extra_state, from which such a trampoline could learn
 * which procedure is meant. Where the library of the ABI has MPIX_Op_create_x and its like, these pass
 * it. Otherwise there are trampolines in a fixed number, each for one procedure; a procedure keeps its
 * trampoline, since there is no telling when the last call of it was.
 */
#include <limits.h>
#include <stdatomic.h>

#include "byhand.h"
#include "halo_fortran.h"

typedef void(user_function)(void *, void *, MPI_Fint *, MPI_Fint *);
typedef void(user_function_c)(void *, void *, MPI_Count *, MPI_Fint *);
typedef void(error_function)(MPI_Fint *, MPI_Fint *);

static void operate(halo_function *f, void *in, void *inout, MPI_Fint n, MPI_Datatype type) {
	MPI_Fint handle = out_MPI_Datatype(type);
	((user_function *)f)(in, inout, &n, &handle);
}

static void operate_c(halo_function *f, void *in, void *inout, MPI_Count n, MPI_Datatype type) {
	MPI_Fint handle = out_MPI_Datatype(type);
	((user_function_c *)f)(in, inout, &n, &handle);
}

static void handle_error(halo_function *f, MPI_Fint object, MPI_Fint code) {
	((error_function *)f)(&object, &code);
}

/* Trampolines with an extra_state, which is the procedure. An operation with INTEGER lengths gets the
 * elements in parts. */
static void operation_x(void *in, void *inout, MPI_Count n, MPI_Datatype type, void *f) {
	MPI_Count lb, extent = 0;
	if (n > INT_MAX)
		PMPI_Type_get_extent_c(type, &lb, &extent);
	for (MPI_Count k; n > 0; n -= k) {
		k = n < INT_MAX ? n : INT_MAX;
		operate((halo_function *)f, in, inout, (MPI_Fint)k, type);
		in = (char *)in + k * extent;
		inout = (char *)inout + k * extent;
	}
}
static void operation_c_x(void *in, void *inout, MPI_Count n, MPI_Datatype type, void *f) {
	operate_c((halo_function *)f, in, inout, n, type);
}
#define ERROR_X(type, x) \
	static void x##_error_x(type object, int code, void *f) { handle_error((halo_function *)f, out_##type(object), code); }
ERROR_X(MPI_Comm, comm)
ERROR_X(MPI_File, file)
ERROR_X(MPI_Win, win)
ERROR_X(MPI_Session, session)

/* The trampolines without: SLOTS of each kind. */
#define SLOTS 64
enum { OPERATION, OPERATION_C, COMM, FILES, WIN, SESSION, KINDS };
static _Atomic(halo_function *) procedures[KINDS][SLOTS];

#define SLOT(i) \
	static void operation_##i(void *in, void *inout, int *n, MPI_Datatype *type) { operate(procedures[OPERATION][i], in, inout, *n, *type); } \
	static void operation_c_##i(void *in, void *inout, MPI_Count *n, MPI_Datatype *type) { operate_c(procedures[OPERATION_C][i], in, inout, *n, *type); } \
	static void comm_##i(MPI_Comm *object, int *code, ...) { handle_error(procedures[COMM][i], out_MPI_Comm(*object), *code); } \
	static void file_##i(MPI_File *object, int *code, ...) { handle_error(procedures[FILES][i], out_MPI_File(*object), *code); } \
	static void win_##i(MPI_Win *object, int *code, ...) { handle_error(procedures[WIN][i], out_MPI_Win(*object), *code); } \
	static void session_##i(MPI_Session *object, int *code, ...) { handle_error(procedures[SESSION][i], out_MPI_Session(*object), *code); }
#define EIGHT(X, d) X(d##0) X(d##1) X(d##2) X(d##3) X(d##4) X(d##5) X(d##6) X(d##7)
#define ALL(X) EIGHT(X, 0) EIGHT(X, 01) EIGHT(X, 02) EIGHT(X, 03) EIGHT(X, 04) EIGHT(X, 05) EIGHT(X, 06) EIGHT(X, 07)
ALL(SLOT)

#define OPERATION_OF(i) operation_##i,
#define OPERATION_C_OF(i) operation_c_##i,
#define COMM_OF(i) comm_##i,
#define FILE_OF(i) file_##i,
#define WIN_OF(i) win_##i,
#define SESSION_OF(i) session_##i,
static MPI_User_function *const operations[SLOTS] = {ALL(OPERATION_OF)};
static MPI_User_function_c *const operations_c[SLOTS] = {ALL(OPERATION_C_OF)};
static MPI_Comm_errhandler_function *const comms[SLOTS] = {ALL(COMM_OF)};
static MPI_File_errhandler_function *const files[SLOTS] = {ALL(FILE_OF)};
static MPI_Win_errhandler_function *const wins[SLOTS] = {ALL(WIN_OF)};
static MPI_Session_errhandler_function *const sessions[SLOTS] = {ALL(SESSION_OF)};

/* The number of the trampoline of a procedure, or -1 if all are taken. */
static int slot(int kind, halo_function *f) {
	for (int i = 0; i < SLOTS; i++) {
		halo_function *none = NULL;
		if (atomic_load(&procedures[kind][i]) == f || atomic_compare_exchange_strong(&procedures[kind][i], &none, f) || none == f)
			return i;
	}
	return -1;
}

/* Raises the error of a procedure without a trampoline. */
static int full(const char *call) { return halo_raise(HALO_NONE, 0, MPI_ERR_OTHER, "%s: there are %d procedures already, and the library has no room for more", call, SLOTS); }

void pmpi_op_create_(halo_function *f, MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror) {
	MPI_Op c = MPI_OP_NULL;
	int code, i;
	if (MPIX_Op_create_x)
		code = MPIX_Op_create_x(operation_x, NULL, *commute, (void *)f, &c);
	else if ((i = slot(OPERATION, f)) < 0)
		code = full("MPI_Op_create");
	else
		code = MPI_Op_create(operations[i], *commute, &c);
	*op = out_MPI_Op(c);
	HALO_RETURN(code);
}
HALO_NAMES(op_create)

void pmpi_op_create_c_f08_(halo_function *f, MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierror) {
	MPI_Op c = MPI_OP_NULL;
	int code, i;
	if (MPIX_Op_create_x)
		code = MPIX_Op_create_x(operation_c_x, NULL, *commute, (void *)f, &c);
	else if ((i = slot(OPERATION_C, f)) < 0)
		code = full("MPI_Op_create_c");
	else
		code = MPI_Op_create_c(operations_c[i], *commute, &c);
	*op = out_MPI_Op(c);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_op_create_c_f08_, pmpi_op_create_c_f08_)

#define ERRHANDLER(name, x, kind, table) \
	void pmpi_##x##_create_errhandler_(halo_function *f, MPI_Fint *errhandler, MPI_Fint *ierror) { \
		MPI_Errhandler c = MPI_ERRHANDLER_NULL; \
		int code, i; \
		if (MPIX_##name##_create_errhandler_x) \
			code = MPIX_##name##_create_errhandler_x(x##_error_x, NULL, (void *)f, &c); \
		else if ((i = slot(kind, f)) < 0) \
			code = full("MPI_" #name "_create_errhandler"); \
		else \
			code = MPI_##name##_create_errhandler(table[i], &c); \
		*errhandler = out_MPI_Errhandler(c); \
		HALO_RETURN(code); \
	} \
	HALO_NAMES(x##_create_errhandler)
ERRHANDLER(Comm, comm, COMM, comms)
ERRHANDLER(File, file, FILES, files)
ERRHANDLER(Win, win, WIN, wins)
ERRHANDLER(Session, session, SESSION, sessions)
