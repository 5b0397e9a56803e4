/* Calls before MPI_Init and after MPI_Finalize. Without an argument: those that are allowed,
 * and their results. "before CALL" and "after CALL": one that is not allowed, which ends the process,
 * or returns MPI_ERR_OTHER if the first error handler returns (Halo). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

#define CHECK(what) \
	do { \
		if (!(what)) wrong++, fprintf(stderr, "%s: line %d: not so: %s\n", when, __LINE__, #what); \
	} while (0)

static void on_session(MPI_Session *session, int *code, ...) {
	(void)session;
	(void)code;
}

static void allowed(const char *when, int initialized, int finalized) {
	int n = -1, m = -1, class = -1, code = -1;
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Info a, b;
	MPI_Errhandler h;
	CHECK(MPI_Initialized(&n) == MPI_SUCCESS && n == initialized);
	CHECK(MPI_Finalized(&n) == MPI_SUCCESS && n == finalized);
	CHECK(MPI_Get_version(&n, &m) == MPI_SUCCESS && n == MPI_VERSION && m == MPI_SUBVERSION);
	CHECK(MPI_Get_library_version(text, &n) == MPI_SUCCESS && n == (int)strlen(text) && n > 0);
	CHECK(MPI_Abi_get_version(&n, &m) == MPI_SUCCESS && n == MPI_ABI_VERSION);
	CHECK(MPI_Info_create(&a) == MPI_SUCCESS && MPI_Info_set(a, "key", "value") == MPI_SUCCESS);
	CHECK(MPI_Info_dup(a, &b) == MPI_SUCCESS && MPI_Info_get_nkeys(b, &n) == MPI_SUCCESS && n == 1);
	n = sizeof text;
	CHECK(MPI_Info_get_string(b, "key", &n, text, &m) == MPI_SUCCESS && m == 1 && strcmp(text, "value") == 0);
	CHECK(MPI_Info_free(&a) == MPI_SUCCESS && MPI_Info_free(&b) == MPI_SUCCESS && b == MPI_INFO_NULL);
	CHECK(MPI_Error_class(MPI_ERR_RANK, &n) == MPI_SUCCESS && n == MPI_ERR_RANK);
	CHECK(MPI_Error_string(MPI_ERR_RANK, text, &n) == MPI_SUCCESS && n == (int)strlen(text) && n > 0);
	CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && class > MPI_ERR_LASTCODE);
	CHECK(MPI_Add_error_code(class, &code) == MPI_SUCCESS && MPI_Add_error_string(code, "mine") == MPI_SUCCESS);
	CHECK(MPI_Error_string(code, text, &n) == MPI_SUCCESS && strcmp(text, "mine") == 0);
	CHECK(MPI_Error_class(code, &n) == MPI_SUCCESS && n == class);
	CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS && MPI_Remove_error_code(code) == MPI_SUCCESS && MPI_Remove_error_class(class) == MPI_SUCCESS);
	CHECK(MPI_Session_create_errhandler(on_session, &h) == MPI_SUCCESS && MPI_Errhandler_free(&h) == MPI_SUCCESS && h == MPI_ERRHANDLER_NULL);
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &n) == MPI_SUCCESS && MPI_T_cvar_get_num(&n) == MPI_SUCCESS && MPI_T_finalize() == MPI_SUCCESS);
	CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
	double t = MPI_Wtime();
	CHECK(MPI_Wtime() >= t && MPI_Wtick() > 0 && MPI_Aint_diff(MPI_Aint_add(100, 28), 28) == 100);
}

static int forbidden(const char *call) {
	static int v[2];
	void *p;
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Datatype t = MPI_INT;
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Group g = MPI_GROUP_EMPTY;
	MPI_Win w = MPI_WIN_NULL;
	MPI_Op o;
#define TRY(name, args) \
	if (strcmp(call, #name) == 0) return name args
	TRY(MPI_Comm_rank, (c, v));
	TRY(MPI_Comm_size, (c, v));
	TRY(MPI_Send, (v, 1, MPI_INT, 0, 0, c));
	TRY(MPI_Irecv, (v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
	TRY(MPI_Wait, (&r, MPI_STATUS_IGNORE));
	TRY(MPI_Barrier, (c));
	TRY(MPI_Allreduce, (v, v + 1, 1, MPI_INT, MPI_SUM, c));
	TRY(MPI_Comm_dup, (c, &c));
	TRY(MPI_Comm_set_errhandler, (c, MPI_ERRORS_RETURN));
	TRY(MPI_Type_contiguous, (2, MPI_INT, &t));
	TRY(MPI_Type_size, (MPI_INT, v));
	TRY(MPI_Type_free, (&t));
	TRY(MPI_Op_create, ((MPI_User_function *)0, 1, &o));
	TRY(MPI_Group_size, (g, v));
	TRY(MPI_Win_fence, (0, w));
	TRY(MPI_Win_flush, (0, w));
	TRY(MPI_Put, (v, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
	TRY(MPI_Alloc_mem, (8, MPI_INFO_NULL, &p));
	TRY(MPI_Cart_create, (c, 1, v, v, 0, &c));
	TRY(MPI_Query_thread, (v));
	TRY(MPI_Finalize, ());
	TRY(MPI_Init, (NULL, NULL));
	TRY(MPIX_Win_order, (0, w));
	fprintf(stderr, "what is %s?\n", call);
	exit(99);
}

int main(int argc, char **argv) {
	int before = argc == 3 && strcmp(argv[1], "before") == 0, code = 0;
	if (before) code = forbidden(argv[2]);
	if (argc == 1) allowed("before MPI_Init", 0, 0);
	if (!before) {
		MPI_Init(&argc, &argv);
		if (argc == 1) allowed("within", 1, 0);
		MPI_Finalize();
		if (argc == 1) allowed("after MPI_Finalize", 1, 1);
		else code = forbidden(argv[2]);
	}
	int class = MPI_SUCCESS;
	MPI_Error_class(code, &class);
	if (argc == 3 && class != MPI_ERR_OTHER) printf("%s %s: class %d\n", argv[1], argv[2], class);
	fflush(stdout);
	return wrong != 0;
}
