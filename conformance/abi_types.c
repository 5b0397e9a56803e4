/* The types of C (CST-11) as the standard ABI defines them (MPI-5, 20.3): which integers Aint, Count, Offset and Fint
 * are, the layout of statuses, and handle types, which are pointers to structures of their own. Constants have their
 * values when the program is compiled (CST-01), also as initial values. The program is valid in C99 and in C++. */
#include "check.h"
#include <stddef.h>

/* HOLDS fails to compile if a constant condition is false. */
#define JOIN(a, b) a##b
#define NAMED(line) JOIN(holds_at_, line)
#define HOLDS(condition) typedef char NAMED(__LINE__)[(condition) ? 1 : -1]

#ifdef __cplusplus
template <class A, class B> struct one { enum { same = 0 }; };
template <class A> struct one<A, A> { enum { same = 1 }; };
#define SAME(a, b) (one<a, b>::same)
#else
#define SAME(a, b) __builtin_types_compatible_p(a, b)
#endif
#define SIGNED(type) ((type)-1 < (type)0)

HOLDS(SAME(MPI_Aint, intptr_t) && sizeof(MPI_Aint) == sizeof(void *) && SIGNED(MPI_Aint));
HOLDS(SAME(MPI_Count, int64_t) && sizeof(MPI_Count) == 8 && SIGNED(MPI_Count));
HOLDS(SAME(MPI_Offset, int64_t) && sizeof(MPI_Offset) == 8 && SIGNED(MPI_Offset));
HOLDS(SAME(MPI_Fint, int) && SIGNED(MPI_Fint));

/* A status is eight ints: source, tag, error, and five of the implementation. */
HOLDS(sizeof(MPI_Status) == 8 * sizeof(int));
HOLDS(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == sizeof(int) && offsetof(MPI_Status, MPI_ERROR) == 2 * sizeof(int));
HOLDS(offsetof(MPI_Status, MPI_internal) == 3 * sizeof(int) && sizeof(((MPI_Status *)NULL)->MPI_internal) == 5 * sizeof(int));
HOLDS(sizeof(MPI_F08_status) == 8 * sizeof(MPI_Fint) && sizeof(MPI_F08_status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
HOLDS(offsetof(MPI_F08_status, MPI_SOURCE) == MPI_F_SOURCE * sizeof(MPI_Fint) && offsetof(MPI_F08_status, MPI_TAG) == MPI_F_TAG * sizeof(MPI_Fint));
HOLDS(offsetof(MPI_F08_status, MPI_ERROR) == MPI_F_ERROR * sizeof(MPI_Fint));

/* Each handle type is a pointer to a structure of its own, whose name the ABI has. */
#define HANDLE(type, object) HOLDS(sizeof(type) == sizeof(void *) && SAME(type, struct object *))
HANDLE(MPI_Comm, MPI_ABI_Comm);
HANDLE(MPI_Datatype, MPI_ABI_Datatype);
HANDLE(MPI_Errhandler, MPI_ABI_Errhandler);
HANDLE(MPI_File, MPI_ABI_File);
HANDLE(MPI_Group, MPI_ABI_Group);
HANDLE(MPI_Info, MPI_ABI_Info);
HANDLE(MPI_Message, MPI_ABI_Message);
HANDLE(MPI_Op, MPI_ABI_Op);
HANDLE(MPI_Request, MPI_ABI_Request);
HANDLE(MPI_Session, MPI_ABI_Session);
HANDLE(MPI_Win, MPI_ABI_Win);
HOLDS(!SAME(MPI_Comm, MPI_Group) && !SAME(MPI_Request, MPI_Message) && !SAME(MPI_Datatype, MPI_Op));

/* Constants of the compiler: sizes of arrays, labels, initial values of variables that live as long as the program. */
HOLDS(MPI_BSEND_OVERHEAD > 0 && MPI_MAX_PROCESSOR_NAME > 0 && MPI_LOCK_EXCLUSIVE != MPI_LOCK_SHARED);
static MPI_Comm comms[] = {MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF};
static MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_INT, MPI_DOUBLE_INT};
static MPI_Group groups[] = {MPI_GROUP_NULL, MPI_GROUP_EMPTY};
static MPI_Op ops[] = {MPI_OP_NULL, MPI_SUM, MPI_NO_OP};
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Errhandler handlers[] = {MPI_ERRHANDLER_NULL, MPI_ERRORS_RETURN, MPI_ERRORS_ABORT};
static MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_ENV};
static MPI_Win win = MPI_WIN_NULL;
static MPI_File file = MPI_FILE_NULL;
static MPI_Message messages[] = {MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC};
static MPI_Session session = MPI_SESSION_NULL;
static MPI_Status *statuses[] = {MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE};
static int *weights[] = {MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_ERRCODES_IGNORE};
static void *addresses[] = {MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC};
static char **argv_null = MPI_ARGV_NULL, ***argvs_null = MPI_ARGVS_NULL;
static MPI_Comm_copy_attr_function *comm_copies[] = {MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN};
static MPI_Type_copy_attr_function *type_copies[] = {MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN};
static MPI_Win_copy_attr_function *win_copies[] = {MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN};
static MPI_Comm_delete_attr_function *comm_delete = MPI_COMM_NULL_DELETE_FN;
static MPI_Type_delete_attr_function *type_delete = MPI_TYPE_NULL_DELETE_FN;
static MPI_Win_delete_attr_function *win_delete = MPI_WIN_NULL_DELETE_FN;

/* Values that stand for ranks and tags, and cannot be one, are negative, and none is another (CST-01). */
static const char *special(int value) {
	switch (value) {
	case MPI_ANY_SOURCE: return "MPI_ANY_SOURCE";
	case MPI_ANY_TAG: return "MPI_ANY_TAG";
	case MPI_PROC_NULL: return "MPI_PROC_NULL";
	case MPI_ROOT: return "MPI_ROOT";
	case MPI_UNDEFINED: return "MPI_UNDEFINED";
	case MPI_KEYVAL_INVALID: return "MPI_KEYVAL_INVALID";
	default: return "";
	}
}

int main(int argc, char **argv) {
	static const int negative[] = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_ROOT, MPI_UNDEFINED};
	begin(&argc, &argv);
	for (size_t k = 0; k < sizeof negative / sizeof *negative; k++) CHECK(negative[k] < 0 && special(negative[k])[0] != 0, "%d", negative[k]);
	/* Initial values are those that the library compares with. */
	int n = -1, flag = -1;
	OK(MPI_Comm_compare(comms[1], MPI_COMM_WORLD, &n));
	CHECK(n == MPI_IDENT && comms[0] != comms[1] && comms[1] != comms[2], "%d", n);
	OK(MPI_Type_size(types[1], &n));
	CHECK(n == (int)sizeof(int) && types[0] != types[2], "%d bytes", n);
	OK(MPI_Group_size(groups[1], &n));
	CHECK(n == 0 && groups[0] != groups[1], "%d members", n);
	OK(MPI_Op_commutative(ops[1], &flag));
	CHECK(flag == 1 && ops[0] != ops[2], "%d", flag);
	OK(MPI_Wait(&request, statuses[0]));
	OK(MPI_Waitall(1, &request, statuses[1]));
	OK(MPI_Comm_set_errhandler(comms[2], handlers[1]));
	CHECK(handlers[0] != handlers[2] && infos[0] != infos[1] && messages[0] != messages[1], "constants that are one");
	CHECK(win == MPI_WIN_NULL && file == MPI_FILE_NULL && session == MPI_SESSION_NULL, "null handles");
	CHECK(weights[0] != weights[1] && addresses[1] != addresses[2] && addresses[0] != addresses[1], "addresses that are one");
	CHECK(argv_null == MPI_ARGV_NULL && argvs_null == MPI_ARGVS_NULL && weights[2] == MPI_ERRCODES_IGNORE, "no arguments");
	CHECK(comm_copies[0] != comm_copies[1] && type_copies[0] != type_copies[1] && win_copies[0] != win_copies[1], "functions that are one");
	CHECK(comm_delete == MPI_COMM_NULL_DELETE_FN && type_delete == MPI_TYPE_NULL_DELETE_FN && win_delete == MPI_WIN_NULL_DELETE_FN, "delete functions");
	return done();
}
