/* Calls that the engine does not have yet raise an error on the communicator or window
 * among the arguments, and never succeed falsely; calls with a correct result without the engine
 * return it (Halo). */
#include "check.h"

static int here; /* the number of the handler that was called */

static void on_comm(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	here = class_of(*code) == MPI_ERR_UNSUPPORTED_OPERATION ? 1 : -1;
}

/* The call sets the handle that it would return to null. */
#define MAKES(call, handle, null) \
	do { \
		memset(&(handle), 0x55, sizeof (handle)); \
		LACKS(call); \
		CHECK((handle) == (null), #call ": " #handle " is %p", (void *)(handle)); \
	} while (0)
#define LACKS(call) FAILS(call, MPI_ERR_UNSUPPORTED_OPERATION)
#define ASKS(call) \
	do { \
		here = 0; \
		LACKS(call); \
		CHECK(here == 1, #call ": the communicator's handler was not called (%d)", here); \
	} while (0)

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int n = -1, dims[3] = {0, 2, 0};
	char text[MPI_MAX_PORT_NAME] = "";
	MPI_Comm c, d;
	MPI_Errhandler h;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	OK(MPI_Comm_create_errhandler(on_comm, &h));
	OK(MPI_Comm_set_errhandler(c, h));

	ASKS(MPI_Comm_connect(text, MPI_INFO_NULL, 0, c, &d));
	ASKS(MPI_Comm_accept(text, MPI_INFO_NULL, 0, c, &d));
	LACKS(MPI_Open_port(MPI_INFO_NULL, text));
	LACKS(MPI_Lookup_name("none", MPI_INFO_NULL, text));
	LACKS(MPI_Comm_connect(text, MPI_INFO_NULL, 0, (MPI_Comm)MPI_INT, &d));

	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MAKES(MPI_Comm_join(0, &d), d, MPI_COMM_NULL);

	OK(MPI_Topo_test(c, &n));
	CHECK(n == MPI_UNDEFINED, "topology %d", n);
	FAILS(MPI_Topo_test(MPI_COMM_NULL, &n), MPI_ERR_COMM);
	d = MPI_COMM_SELF;
	OK(MPI_Comm_get_parent(&d));
	CHECK(d == MPI_COMM_NULL, "a parent");
	OK(MPI_Dims_create(12, 3, dims));
	CHECK(dims[0] == 3 && dims[1] == 2 && dims[2] == 2, "%d %d %d", dims[0], dims[1], dims[2]);
	dims[0] = 0;
	FAILS(MPI_Dims_create(7, 3, dims), MPI_ERR_DIMS);
	FAILS(MPI_Dims_create(7, -1, dims), MPI_ERR_DIMS);
	CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL, "sessions and ints");
	CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "files and ints");

	/* The tool information interface is empty, and calls no error handler. */
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
	CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED, "before MPI_T_init_thread");
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &n) == MPI_SUCCESS, "MPI_T_init_thread");
	n = -1;
	CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n == 0, "%d control variables", n);
	CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS && n == 0, "%d performance variables", n);
	CHECK(MPI_T_category_get_num(&n) == MPI_SUCCESS && n == 0, "%d categories", n);
	CHECK(MPI_T_cvar_get_index("none", &n) == MPI_T_ERR_INVALID_NAME, "an index");
	MPI_T_cvar_handle cvar;
	CHECK(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &n) == MPI_T_ERR_INVALID_INDEX, "a handle");
	MPI_T_pvar_session p = MPI_T_PVAR_SESSION_NULL, q;
	CHECK(MPI_T_pvar_session_create(&p) == MPI_SUCCESS && p != MPI_T_PVAR_SESSION_NULL, "no session");
	CHECK(MPI_T_pvar_start(p, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "starting nothing");
	CHECK(MPI_T_pvar_start(p, MPI_T_PVAR_HANDLE_NULL) == MPI_T_ERR_INVALID_HANDLE, "starting no handle");
	q = p;
	CHECK(MPI_T_pvar_session_free(&p) == MPI_SUCCESS && p == MPI_T_PVAR_SESSION_NULL, "freeing");
	CHECK(MPI_T_pvar_session_free(&q) == MPI_T_ERR_INVALID_SESSION, "freeing again");
	CHECK(MPI_T_finalize() == MPI_SUCCESS, "MPI_T_finalize");
	CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED, "MPI_T_finalize again");

	OK(MPI_Errhandler_free(&h));
	OK(MPI_Comm_free(&c));
	return done();
}
