/* Messages to and from MPI_PROC_NULL are complete at once, whichever call completes them, beside others and alone. The
 * status of a receive says so. Their errors are those of other messages. */
#include "check.h"

enum { n = 4 };

static int buf[n];
static MPI_Request r[n];
static MPI_Status s[n];

static void expect_nothing(const MPI_Status *t, const char *how) {
	int count = -1;
	OK(MPI_Get_count(t, MPI_INT, &count));
	CHECK(t->MPI_SOURCE == MPI_PROC_NULL && t->MPI_TAG == MPI_ANY_TAG && count == 0, "%s: source %d, tag %d, count %d", how, t->MPI_SOURCE, t->MPI_TAG, count);
}

/* A receive from MPI_PROC_NULL, one from the process itself, a send to itself, and one to MPI_PROC_NULL. */
static void start(int tag) {
	for (int i = 0; i < n; i++) {
		buf[i] = 70 + i;
		s[i].MPI_SOURCE = s[i].MPI_TAG = -77;
	}
	OK(MPI_Irecv(&buf[0], 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF, &r[0]));
	OK(MPI_Irecv(&buf[1], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[1]));
	OK(MPI_Isend(&buf[2], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[2]));
	OK(MPI_Isend(&buf[3], 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_SELF, &r[3]));
	for (int i = 0; i < n; i++)
		CHECK(r[i] != MPI_REQUEST_NULL && MPI_Request_f2c(MPI_Request_c2f(r[i])) == r[i], "request %d", i);
}

static void finish(const char *how, const MPI_Status *nothing) {
	for (int i = 0; i < n; i++)
		CHECK(r[i] == MPI_REQUEST_NULL, "%s: request %d is not null", how, i);
	CHECK(buf[0] == 70 && buf[1] == 72, "%s: %d, %d", how, buf[0], buf[1]);
	expect_nothing(nothing, how);
}

static void complete(int tag) {
	int flag = 0, index, some, which[n];
	start(tag);
	for (int i = n; i-- > 0;) OK(MPI_Wait(&r[i], &s[i]));
	finish("Wait", &s[0]);

	start(tag);
	for (int i = 0; i < n; i++)
		for (flag = 0; !flag;) OK(MPI_Test(&r[i], &flag, &s[i]));
	finish("Test", &s[0]);

	start(tag);
	OK(MPI_Waitall(n, r, s));
	finish("Waitall", &s[0]);
	start(tag);
	OK(MPI_Waitall(1, r, s)); /* alone */
	OK(MPI_Waitall(n - 1, &r[1], MPI_STATUSES_IGNORE));
	finish("Waitall of one", &s[0]);

	start(tag);
	for (flag = 0; !flag;) OK(MPI_Testall(n, r, &flag, s));
	finish("Testall", &s[0]);

	start(tag);
	for (int i = 0; i < n; i++) {
		OK(MPI_Waitany(n, r, &index, &s[3]));
		if (index == 0) s[0] = s[3];
	}
	finish("Waitany", &s[0]);

	start(tag);
	for (int left = n; left > 0; left -= some) {
		OK(MPI_Waitsome(n, r, &some, which, s));
		for (int i = 0; i < some; i++)
			if (which[i] == 0) expect_nothing(&s[i], "Waitsome");
	}
	expect_nothing(&s[0], "the first of Waitsome"); /* it is complete in the first call */

	start(tag);
	OK(MPI_Request_get_status(r[0], &flag, &s[0]));
	CHECK(flag, "get_status: flag %d", flag);
	expect_nothing(&s[0], "get_status");
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[3]));
	OK(MPI_Waitall(2, &r[1], MPI_STATUSES_IGNORE));
	finish("free", &s[0]);

	start(tag);
	OK(MPI_Cancel(&r[0]));
	OK(MPI_Cancel(&r[3]));
	OK(MPI_Waitall(n, r, s));
	OK(MPI_Test_cancelled(&s[0], &flag));
	CHECK(!flag, "a receive from nowhere: cancelled %d", flag);
	OK(MPI_Test_cancelled(&s[3], &flag));
	CHECK(!flag, "a send to nowhere: cancelled %d", flag);
	finish("Cancel", &s[0]);

	s[0].MPI_SOURCE = -77;
	OK(MPI_Recv(buf, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &s[0]));
	expect_nothing(&s[0], "Recv");
	OK(MPI_Recv(buf, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Send(buf, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
}

static void errors(void) {
	MPI_Datatype raw, pair;
	OK(MPI_Type_contiguous(2, MPI_INT, &raw));
	OK(MPI_Type_dup(raw, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Send(buf, 1, pair, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	OK(MPI_Recv(buf, 1, pair, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_TYPE, MPI_Send(buf, 1, raw, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	FAILS(MPI_ERR_TYPE, MPI_Irecv(buf, 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]));
	FAILS(MPI_ERR_COUNT, MPI_Isend(buf, -1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]));
	FAILS(MPI_ERR_TAG, MPI_Isend(buf, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]));
	FAILS(MPI_ERR_TAG, MPI_Recv(buf, 1, MPI_INT, MPI_PROC_NULL, -7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Type_free(&raw));
	OK(MPI_Type_free(&pair));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	complete(3);
	complete(MPI_ANY_TAG);
	errors();
	return done();
}
