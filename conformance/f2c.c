/* Handles and statuses, also null and invalid ones, and many, are converted to INTEGERs of Fortran and back
 * (LNG-01, LNG-04, LNG-06, CST-09, X-ABI-02). */
#include "check.h"

/* Converts a handle to an int and back; two handles of one kind have different numbers. */
#define THROUGH(name, type, handle, null) \
	do { \
		type h = (handle), no = (null); \
		CHECK(MPI_##name##_f2c(MPI_##name##_c2f(h)) == h, #handle); \
		CHECK(PMPI_##name##_f2c(PMPI_##name##_c2f(no)) == no, #null); \
		CHECK(MPI_##name##_c2f(h) != MPI_##name##_c2f(no), #handle " and " #null " are one"); \
		CHECK(MPI_##name##_c2f(h) == MPI_##name##_toint(h), #handle); \
	} while (0)

static void mine(void *in, void *inout, int *n, MPI_Datatype *d) { (void)in, (void)inout, (void)n, (void)d; }
static void handler(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }

static void handles(void) {
	MPI_Comm c, d;
	MPI_Errhandler e;
	MPI_Group g;
	MPI_Info i;
	MPI_Op op;
	MPI_Request r;
	MPI_Datatype t, u;
	MPI_Win w;
	MPI_Message m;
	int v = 7, flag;
	THROUGH(Comm, MPI_Comm, MPI_COMM_WORLD, MPI_COMM_NULL);
	THROUGH(Comm, MPI_Comm, MPI_COMM_SELF, MPI_COMM_NULL);
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	THROUGH(Comm, MPI_Comm, c, MPI_COMM_WORLD);
	OK(MPI_Comm_create_errhandler(handler, &e));
	THROUGH(Errhandler, MPI_Errhandler, e, MPI_ERRHANDLER_NULL);
	THROUGH(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL);
	OK(MPI_Comm_group(c, &g));
	THROUGH(Group, MPI_Group, g, MPI_GROUP_NULL);
	THROUGH(Group, MPI_Group, MPI_GROUP_EMPTY, g);
	OK(MPI_Info_create(&i));
	THROUGH(Info, MPI_Info, i, MPI_INFO_NULL);
	THROUGH(Info, MPI_Info, MPI_INFO_ENV, i);
	OK(MPI_Op_create(mine, 1, &op));
	THROUGH(Op, MPI_Op, op, MPI_OP_NULL);
	THROUGH(Op, MPI_Op, MPI_SUM, MPI_MAX);
	OK(MPI_Type_contiguous(3, MPI_INT, &t));
	OK(MPI_Type_dup(t, &u));
	THROUGH(Type, MPI_Datatype, t, MPI_DATATYPE_NULL);
	THROUGH(Type, MPI_Datatype, u, t);
	THROUGH(Type, MPI_Datatype, MPI_INTEGER, MPI_INT);
	OK(MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, c, &w));
	THROUGH(Win, MPI_Win, w, MPI_WIN_NULL);
	THROUGH(File, MPI_File, MPI_FILE_NULL, (MPI_File)(intptr_t)0x11f);
	THROUGH(Session, MPI_Session, MPI_SESSION_NULL, (MPI_Session)(intptr_t)0x127);
	THROUGH(Message, MPI_Message, MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC);

	OK(MPI_Isend(&v, 1, MPI_INT, rank, 3, c, &r));
	THROUGH(Request, MPI_Request, r, MPI_REQUEST_NULL);
	OK(MPI_Improbe(rank, 3, c, &flag, &m, MPI_STATUS_IGNORE));
	while (!flag) OK(MPI_Improbe(rank, 3, c, &flag, &m, MPI_STATUS_IGNORE));
	THROUGH(Message, MPI_Message, m, MPI_MESSAGE_NULL);
	OK(MPI_Mrecv(&v, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));

	/* An invalid number gives an invalid handle. */
	d = c;
	MPI_Fint was = MPI_Comm_c2f(c);
	OK(MPI_Comm_free(&c));
	FAILS(MPI_Comm_size(MPI_Comm_f2c(was), &v), MPI_ERR_COMM);
	FAILS(MPI_Comm_size(MPI_Comm_f2c(-5), &v), MPI_ERR_COMM);
	FAILS(MPI_Comm_size(MPI_Comm_f2c(MPI_Type_c2f(MPI_INT)), &v), MPI_ERR_COMM);
	CHECK(d != c, "MPI_Comm_free");

	OK(MPI_Win_free(&w));
	OK(MPI_Type_free(&u));
	OK(MPI_Type_free(&t));
	OK(MPI_Op_free(&op));
	OK(MPI_Info_free(&i));
	OK(MPI_Group_free(&g));
	OK(MPI_Errhandler_free(&e));
}

/* A status that was converted through all forms has the same contents. */
#define SAME(status) \
	do { \
		int n_ = -1, k_ = -1; \
		OK(MPI_Get_count(&(status), MPI_INT, &n_)); \
		OK(MPI_Test_cancelled(&(status), &k_)); \
		CHECK(n_ == count && k_ == cancelled, #status ": %d ints, cancelled %d", n_, k_); \
		CHECK((status).MPI_SOURCE == st.MPI_SOURCE && (status).MPI_TAG == st.MPI_TAG && (status).MPI_ERROR == st.MPI_ERROR, #status); \
	} while (0)

static void there_and_back(MPI_Status st) {
	MPI_Status back;
	MPI_Fint f[MPI_F_STATUS_SIZE], f2[MPI_F_STATUS_SIZE];
	MPI_F08_status f08;
	int count, cancelled;
	OK(MPI_Get_count(&st, MPI_INT, &count));
	OK(MPI_Test_cancelled(&st, &cancelled));
	OK(MPI_Status_c2f(&st, f));
	CHECK(f[MPI_F_SOURCE] == st.MPI_SOURCE && f[MPI_F_TAG] == st.MPI_TAG && f[MPI_F_ERROR] == st.MPI_ERROR, "c2f");
	OK(MPI_Status_f2c(f, &back));
	SAME(back);
	OK(MPI_Status_c2f08(&st, &f08));
	CHECK(f08.MPI_SOURCE == st.MPI_SOURCE && f08.MPI_TAG == st.MPI_TAG && f08.MPI_ERROR == st.MPI_ERROR, "c2f08");
	memset(&back, 0, sizeof back);
	OK(MPI_Status_f082c(&f08, &back));
	SAME(back);
	OK(PMPI_Status_f082f(&f08, f2));
	CHECK(memcmp(f, f2, sizeof f) == 0, "f082f");
	memset(&f08, 0, sizeof f08);
	OK(MPI_Status_f2f08(f2, &f08));
	OK(MPI_Status_f082c(&f08, &back));
	SAME(back);
}

static void statuses(void) {
	MPI_Status st;
	MPI_Request r;
	MPI_Fint f[MPI_F_STATUS_SIZE];
	MPI_F08_status f08;
	int v[5] = {0};
	memset(&st, 0, sizeof st);
	OK(MPI_Isend(v, 5, MPI_INT, rank, 11, MPI_COMM_WORLD, &r));
	OK(MPI_Recv(v, 5, MPI_INT, rank, 11, MPI_COMM_WORLD, &st));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	there_and_back(st);
	memset(&st, 0, sizeof st);
	OK(MPI_Status_set_elements_c(&st, MPI_BYTE, (MPI_Count)1 << 40));
	OK(MPI_Status_set_cancelled(&st, 1));
	st.MPI_SOURCE = 3, st.MPI_TAG = 4, st.MPI_ERROR = MPI_ERR_TRUNCATE;
	there_and_back(st);

	FAILS(MPI_Status_c2f(MPI_STATUS_IGNORE, f), MPI_ERR_ARG);
	FAILS(MPI_Status_c2f(MPI_STATUSES_IGNORE, f), MPI_ERR_ARG);
	FAILS(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &st), MPI_ERR_ARG);
	FAILS(MPI_Status_f2c(MPI_F_STATUSES_IGNORE, &st), MPI_ERR_ARG);
	FAILS(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &st), MPI_ERR_ARG);
	FAILS(MPI_Status_f082c(MPI_F08_STATUSES_IGNORE, &st), MPI_ERR_ARG);
	FAILS(MPI_Status_c2f08(&st, NULL), MPI_ERR_ARG);
	FAILS(MPI_Status_f2f08(f, MPI_F08_STATUS_IGNORE), MPI_ERR_ARG);
	FAILS(MPI_Status_f082f(&f08, MPI_F_STATUS_IGNORE), MPI_ERR_ARG);
	CHECK((void *)MPI_F_STATUS_IGNORE != (void *)MPI_F_STATUSES_IGNORE && (void *)MPI_F_STATUS_IGNORE != (void *)MPI_F08_STATUS_IGNORE
		&& MPI_F08_STATUS_IGNORE != MPI_F08_STATUSES_IGNORE && MPI_F_STATUS_IGNORE != NULL, "constants that are one");
}

/* More requests than C remembers the handles of, and their numbers again for others. */
static void many(void) {
	enum { MANY = 3000 };
	static MPI_Request r[MANY];
	static MPI_Fint f[MANY];
	static int got[MANY];
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < MANY; i++) {
			OK(MPI_Irecv(&got[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &r[i]));
			f[i] = MPI_Request_c2f(r[i]);
		}
		for (int i = 0; i < MANY; i++) {
			int v = MANY * turn + i;
			OK(MPI_Send(&v, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
		}
		for (int i = MANY - 1; i >= 0; i--) {
			MPI_Request back = MPI_Request_f2c(f[i]);
			CHECK(back == r[i] && MPI_Request_c2f(back) == f[i], "request %d of turn %d", i, turn);
			OK(MPI_Wait(&back, MPI_STATUS_IGNORE));
			CHECK(got[i] == MANY * turn + i, "message %d: %d", i, got[i]);
		}
		MPI_Request stale = MPI_Request_f2c(f[0]);
		FAILS(MPI_Wait(&stale, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	handles();
	many();
	statuses();
	return done();
}
