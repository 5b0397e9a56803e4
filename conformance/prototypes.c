/* The prototypes of callbacks (CBK-01), and the predefined functions for attributes, which have them
 * and do what their names say (CST-07). Buffers that are only read are const (E2-18). */
#include "check.h"

static MPI_User_function combine;
static MPI_Comm_copy_attr_function copy_comm;
static MPI_Comm_delete_attr_function delete_comm;
static MPI_Win_copy_attr_function copy_win;
static MPI_Win_delete_attr_function delete_win;
static MPI_Type_copy_attr_function copy_type;
static MPI_Type_delete_attr_function delete_type;
static MPI_Comm_errhandler_function of_comm;
static MPI_Win_errhandler_function of_win;
static MPI_File_errhandler_function of_file;
static MPI_Session_errhandler_function of_session;
static MPI_Grequest_query_function query;
static MPI_Grequest_free_function release;
static MPI_Grequest_cancel_function cancel;
static MPI_Datarep_extent_function extent;
static MPI_Datarep_conversion_function convert;

/* Memory that is only read may be const. */
static int (*const sends)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = MPI_Send;
static int (*const gathers)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm) = MPI_Gather;
static int (*const sets)(MPI_Info, const char *, const char *) = MPI_Info_set;
static int (*const varies)(const void *, const int *, const int *, const MPI_Datatype *, void *, const int *, const int *, const MPI_Datatype *, MPI_Comm) = MPI_Alltoallw;
static int (*const structures)(int, const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Datatype *) = MPI_Type_create_struct;
static int (*const stores)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win) = MPI_Put;
static int (*const includes)(MPI_Group, int, const int *, MPI_Group *) = MPI_Group_incl;
static int (*const grids)(MPI_Comm, int, const int *, const int *, int, MPI_Comm *) = MPI_Cart_create;
static int (*const opens)(MPI_Comm, const char *, int, MPI_Info, MPI_File *) = MPI_File_open;
static int (*const writes)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) = MPI_File_write_at;
static int (*const counts)(const MPI_Status *, MPI_Datatype, int *) = MPI_Get_count;

static void combine(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static int copy_comm(MPI_Comm c, int k, void *s, void *in, void *out, int *flag) { (void)c, (void)k, (void)s, (void)in, (void)out; return *flag = 0; }
static int copy_win(MPI_Win c, int k, void *s, void *in, void *out, int *flag) { (void)c, (void)k, (void)s, (void)in, (void)out; return *flag = 0; }
static int copy_type(MPI_Datatype c, int k, void *s, void *in, void *out, int *flag) { (void)c, (void)k, (void)s, (void)in, (void)out; return *flag = 0; }
static int delete_comm(MPI_Comm c, int k, void *v, void *s) { (void)c, (void)k, (void)v, (void)s; return MPI_SUCCESS; }
static int delete_win(MPI_Win c, int k, void *v, void *s) { (void)c, (void)k, (void)v, (void)s; return MPI_SUCCESS; }
static int delete_type(MPI_Datatype c, int k, void *v, void *s) { (void)c, (void)k, (void)v, (void)s; return MPI_SUCCESS; }
static void of_comm(MPI_Comm *o, int *code, ...) { (void)o, (void)code; }
static void of_win(MPI_Win *o, int *code, ...) { (void)o, (void)code; }
static void of_file(MPI_File *o, int *code, ...) { (void)o, (void)code; }
static void of_session(MPI_Session *o, int *code, ...) { (void)o, (void)code; }
static int query(void *state, MPI_Status *s) { (void)state, (void)s; return MPI_SUCCESS; }
static int release(void *state) { (void)state; return MPI_SUCCESS; }
static int cancel(void *state, int complete) { (void)state, (void)complete; return MPI_SUCCESS; }
static int extent(MPI_Datatype t, MPI_Aint *e, void *state) { (void)t, (void)e, (void)state; return MPI_SUCCESS; }
static int convert(void *to, MPI_Datatype t, int n, void *from, MPI_Offset at, void *state) { (void)to, (void)t, (void)n, (void)from, (void)at, (void)state; return MPI_SUCCESS; }

/* Whether the attribute of a key is there, on a duplicate, too. */
#define THERE(kind, object, duplicate, key, want, copied) \
	do { \
		int flag; \
		void *value; \
		OK(MPI_##kind##_get_attr(object, key, &value, &flag)); \
		CHECK(flag == want, "the attribute of " #object); \
		OK(MPI_##kind##_get_attr(duplicate, key, &value, &flag)); \
		CHECK(flag == copied && (!flag || value == (void *)&wrong), "the attribute of " #duplicate); \
	} while (0)

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int key[3];
	MPI_Comm c = MPI_COMM_SELF, d;
	CHECK(sends != NULL && gathers != NULL && sets != NULL && varies != NULL && structures != NULL && stores != NULL);
	CHECK(includes != NULL && grids != NULL && opens != NULL && writes != NULL && counts != NULL);
	OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key[0], NULL));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key[1], NULL));
	OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &key[2], NULL));
	for (int k = 0; k < 3; k++) OK(MPI_Comm_set_attr(c, key[k], &wrong));
	OK(MPI_Comm_dup(c, &d));
	for (int k = 0; k < 3; k++) THERE(Comm, c, d, key[k], 1, (k == 0));
	for (int k = 0; k < 3; k++) OK(MPI_Comm_delete_attr(c, key[k]));
	for (int k = 0; k < 3; k++) OK(MPI_Comm_free_keyval(&key[k]));
	OK(MPI_Comm_free(&d));

	MPI_Datatype t, u;
	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key[0], NULL));
	OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key[1], NULL));
	OK(MPI_Type_create_keyval(copy_type, delete_type, &key[2], NULL));
	for (int k = 0; k < 3; k++) OK(MPI_Type_set_attr(t, key[k], &wrong));
	OK(MPI_Type_dup(t, &u));
	for (int k = 0; k < 3; k++) THERE(Type, t, u, key[k], 1, (k == 0));
	for (int k = 0; k < 3; k++) OK(MPI_Type_free_keyval(&key[k]));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&u));

	MPI_Win w;
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &w));
	OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &key[0], NULL));
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key[1], NULL));
	OK(MPI_Win_create_keyval(copy_win, delete_win, &key[2], NULL));
	for (int k = 0; k < 3; k++) OK(MPI_Win_set_attr(w, key[k], &wrong));
	for (int k = 0; k < 3; k++) THERE(Win, w, w, key[k], 1, 1);
	for (int k = 0; k < 3; k++) OK(MPI_Win_free_keyval(&key[k]));
	OK(MPI_Win_free(&w));

	MPI_Op op;
	MPI_Errhandler h[2];
	MPI_Request r;
	OK(MPI_Op_create(combine, 1, &op));
	OK(MPI_Op_free(&op));
	OK(MPI_Comm_create_errhandler(of_comm, &h[0]));
	OK(MPI_Win_create_errhandler(of_win, &h[1]));
	for (int k = 0; k < 2; k++) OK(MPI_Errhandler_free(&h[k]));
	OK(MPI_Grequest_start(query, release, cancel, NULL, &r));
	OK(MPI_Grequest_complete(r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	(void)of_file, (void)of_session, (void)extent, (void)convert; /* what takes them comes with files and sessions */
	return done();
}
