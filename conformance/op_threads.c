/*
 * op_threads: functions of the program run on threads of the program that are inside a call: operations of blocking
 * and nonblocking reductions, callbacks of attributes, error handlers and generalized requests.
 */
#include "check.h"

#include <pthread.h>
#include <sched.h>

static pthread_t here;
static int calls, elsewhere;

static void called(void)
{
	calls++;
	if (!pthread_equal(pthread_self(), here))
		elsewhere++;
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *d)
{
	(void)d;
	called();
	for (int i = 0; i < *len; i++)
		((long *)inout)[i] += ((long *)in)[i];
}

static int delete_attr(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)value, (void)extra;
	called();
	return MPI_SUCCESS;
}

static void on_error(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	called();
}

static int query(void *extra, MPI_Status *s)
{
	(void)extra;
	called();
	MPI_Status_set_elements(s, MPI_BYTE, 0);
	MPI_Status_set_cancelled(s, 0);
	return MPI_SUCCESS;
}

static int release(void *extra)
{
	(void)extra;
	called();
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	(void)extra, (void)complete;
	called();
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	enum { N = 20000 };
	static long mine[N], got[N];
	begin(&argc, &argv);
	here = pthread_self();
	MPI_Op ops[2];
	MPI_Op_create(sum, 1, &ops[0]);
	MPI_Op_create(sum, 0, &ops[1]);
	for (int turn = 0; turn < 40; turn++) {
		int n = turn % 4 == 3 ? N : 1 + turn;
		MPI_Op op = ops[turn % 2];
		MPI_Request r, others[2];
		long want = 0;
		for (int k = 0; k < size; k++)
			want += k + turn;
		for (int i = 0; i < n; i++)
			mine[i] = rank + turn, got[i] = -1;
		switch (turn / 2 % 5) {
		case 0:
			OK(MPI_Allreduce(mine, got, n, MPI_LONG, op, MPI_COMM_WORLD));
			break;
		case 1: /* waits for the reduction */
			OK(MPI_Iallreduce(mine, got, n, MPI_LONG, op, MPI_COMM_WORLD, &r));
			OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			break;
		case 2: /* tests the reduction */
			OK(MPI_Iallreduce(mine, got, n, MPI_LONG, op, MPI_COMM_WORLD, &r));
			for (int flag = 0; !flag;) {
				OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
				sched_yield();
			}
			break;
		case 3: { /* waits for a message that is sent only when rank 0 has completed the reduction */
			long token = 0;
			OK(MPI_Iallreduce(mine, got, n, MPI_LONG, op, MPI_COMM_WORLD, &r));
			if (rank == 0)
				OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			for (int k = 1; rank == 0 && k < size; k++)
				OK(MPI_Send(&token, 1, MPI_LONG, k, 5, MPI_COMM_WORLD));
			if (rank != 0) {
				OK(MPI_Recv(&token, 1, MPI_LONG, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
				OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			}
			break;
		}
		case 4: /* waits for several requests at a time */
			OK(MPI_Iallreduce(mine, got, n, MPI_LONG, op, MPI_COMM_WORLD, &others[0]));
			OK(MPI_Ibarrier(MPI_COMM_WORLD, &others[1]));
			OK(MPI_Waitall(2, others, MPI_STATUSES_IGNORE));
			break;
		}
		for (int i = 0; i < n; i++)
			if (got[i] != want) {
				CHECK(0, "turn %d, element %d is %ld, not %ld", turn, i, got[i], want);
				break;
			}
	}
	CHECK(size == 1 || calls > 0);
	CHECK(elsewhere == 0, "%d of %d calls of operations were on other threads", elsewhere, calls);

	int key;
	MPI_Comm c;
	MPI_Errhandler h;
	MPI_Request q;
	calls = 0;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attr, &key, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Comm_set_attr(c, key, NULL);
	MPI_Comm_create_errhandler(on_error, &h);
	MPI_Comm_set_errhandler(c, h);
	MPI_Send(mine, 1, MPI_LONG, 77, 0, c);
	MPI_Comm_free(&c);
	MPI_Comm_free_keyval(&key);
	MPI_Errhandler_free(&h);
	MPI_Grequest_start(query, release, cancel, NULL, &q);
	MPI_Cancel(&q);
	MPI_Grequest_complete(q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	CHECK(calls == 5, "%d callbacks, not 5", calls);
	CHECK(elsewhere == 0, "%d callbacks were on other threads", elsewhere);
	MPI_Op_free(&ops[0]);
	MPI_Op_free(&ops[1]);
	return done();
}
