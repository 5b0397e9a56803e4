/* Calls with a correct result without other processes, objects or the engine; the tool information
 * interface, which is empty (Halo). */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int n = -1, dims[3] = {0, 2, 0};
	MPI_Comm c, d;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));

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

	OK(MPI_Comm_free(&c));
	return done();
}
