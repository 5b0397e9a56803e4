/* message_requests: requests of short sends, which may be complete when the call that starts them returns, in
 * every call that takes requests, on two ranks. */
#include "check.h"

#define MANY 200

static MPI_Comm comm;

/* Some messages in turns: the rings are open, and calls do not sleep between them. */
static void warm(void) {
	int v = 0;
	for (int i = 0; i < 100; i++)
		if (rank == 0) {
			OK(MPI_Send(&v, 1, MPI_INT, 1, 1, comm));
			OK(MPI_Recv(&v, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE));
		} else {
			OK(MPI_Recv(&v, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
			OK(MPI_Send(&v, 1, MPI_INT, 0, 1, comm));
		}
}

static void empty(const MPI_Status *s) {
	int n = -1, flag = -1;
	MPI_Get_count(s, MPI_BYTE, &n);
	MPI_Test_cancelled(s, &flag);
	CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && n == 0 && !flag, "source %d, tag %d, %d bytes, cancelled %d", s->MPI_SOURCE, s->MPI_TAG, n, flag);
}

static MPI_Request started(int value, int tag) {
	static int values[1024];
	MPI_Request r = MPI_REQUEST_NULL;
	values[value] = value;
	OK(MPI_Isend(&values[value], 1, MPI_INT, 1, tag, comm, &r));
	CHECK(r != MPI_REQUEST_NULL);
	return r;
}

/* Starts a receive for a message that comes when the other rank is told so. */
static MPI_Request pending(int *v) {
	MPI_Request r;
	OK(MPI_Irecv(v, 1, MPI_INT, 1, 9, comm, &r));
	CHECK(MPI_Request_fromint(MPI_Request_toint(r)) == r);
	return r;
}

static void tell(void) { OK(MPI_Ssend(NULL, 0, MPI_INT, 1, 8, comm)); }

static int sent; /* values 0 to sent - 1, with tag 2 */

static void sends(void) {
	MPI_Request r[4], many[MANY];
	MPI_Status s[4];
	int flag = 0, index = -1, n = -1, indices[4], v = -1;

	r[0] = started(sent++, 2);
	CHECK(MPI_Request_fromint(MPI_Request_toint(r[0])) == r[0]);
	OK(MPI_Request_get_status(r[0], &flag, s));
	CHECK(flag);
	empty(s);
	OK(MPI_Wait(&r[0], s));
	CHECK(r[0] == MPI_REQUEST_NULL);
	empty(s);

	r[0] = started(sent++, 2);
	for (flag = 0; !flag;)
		OK(MPI_Test(&r[0], &flag, s));
	CHECK(r[0] == MPI_REQUEST_NULL);
	empty(s);

	r[0] = started(sent++, 2);
	OK(MPI_Request_free(&r[0]));
	CHECK(r[0] == MPI_REQUEST_NULL);

	r[0] = started(sent++, 2);
	FAILS(MPI_Start(&r[0]), MPI_ERR_REQUEST);
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));

	/* Among others: a receive that ends later, and null requests. */
	r[0] = started(sent++, 2), r[1] = pending(&v), r[2] = MPI_REQUEST_NULL, r[3] = started(sent++, 2);
	OK(MPI_Testall(4, r, &flag, s));
	CHECK(!flag && r[0] != MPI_REQUEST_NULL && r[3] != MPI_REQUEST_NULL);
	OK(MPI_Request_get_status_all(4, r, &flag, s));
	CHECK(!flag);
	tell();
	OK(MPI_Waitall(4, r, s));
	for (int i = 0; i < 4; i++) {
		CHECK(r[i] == MPI_REQUEST_NULL, "%d", i);
		if (i != 1)
			empty(&s[i]);
	}
	CHECK(s[1].MPI_SOURCE == 1 && s[1].MPI_TAG == 9);

	r[0] = pending(&v), r[1] = started(sent++, 2), r[2] = MPI_REQUEST_NULL, r[3] = started(sent++, 2);
	OK(MPI_Request_get_status_any(4, r, &index, &flag, s));
	CHECK(flag && (index == 1 || index == 3), "%d", index);
	for (int i = 0; i < 2; i++) {
		OK(MPI_Waitany(4, r, &index, s));
		CHECK((index == 1 || index == 3) && r[index] == MPI_REQUEST_NULL, "%d", index);
		empty(s);
	}
	OK(MPI_Testany(4, r, &index, &flag, s));
	CHECK(!flag);
	tell();
	OK(MPI_Waitany(4, r, &index, s));
	CHECK(index == 0, "%d", index);

	r[0] = started(sent++, 2), r[1] = pending(&v), r[2] = started(sent++, 2), r[3] = MPI_REQUEST_NULL;
	OK(MPI_Request_get_status_some(4, r, &n, indices, s));
	CHECK(n >= 1 && n <= 2, "%d", n);
	for (int left = 2; left > 0; left -= n) {
		OK(MPI_Waitsome(4, r, &n, indices, s));
		CHECK(n > 0 && n <= left, "%d", n);
		if (n <= 0)
			break;
		for (int i = 0; i < n; i++)
			CHECK(indices[i] == 0 || indices[i] == 2, "%d", indices[i]);
	}
	OK(MPI_Testsome(4, r, &n, indices, s));
	CHECK(n == 0 && r[0] == MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL, "%d", n);
	tell();
	OK(MPI_Wait(&r[1], s));

	/* Behind null requests: indices are those in the array. */
	r[0] = MPI_REQUEST_NULL, r[1] = pending(&v), r[2] = MPI_REQUEST_NULL, r[3] = started(sent++, 2);
	OK(MPI_Request_get_status_any(4, r, &index, &flag, s));
	CHECK(flag && index == 3, "%d", index);
	OK(MPI_Request_get_status_some(4, r, &n, indices, s));
	CHECK(n == 1 && indices[0] == 3, "%d", indices[0]);
	OK(MPI_Waitsome(4, r, &n, indices, s));
	CHECK(n == 1 && indices[0] == 3 && r[3] == MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL, "%d of %d", indices[0], n);
	r[3] = started(sent++, 2);
	OK(MPI_Testsome(4, r, &n, indices, s));
	CHECK(n == 1 && indices[0] == 3 && r[3] == MPI_REQUEST_NULL, "%d of %d", indices[0], n);
	tell();
	OK(MPI_Waitsome(4, r, &n, indices, s));
	CHECK(n == 1 && indices[0] == 1 && r[1] == MPI_REQUEST_NULL && s[0].MPI_TAG == 9, "%d of %d", indices[0], n);
	OK(MPI_Waitsome(4, r, &n, indices, s));
	CHECK(n == MPI_UNDEFINED, "%d", n);
	OK(MPI_Testsome(4, r, &n, indices, s));
	CHECK(n == MPI_UNDEFINED, "%d", n);
	OK(MPI_Waitany(4, r, &index, s));
	CHECK(index == MPI_UNDEFINED, "%d", index);
	empty(s);
	r[1] = started(sent++, 2);
	OK(MPI_Request_get_status_all(4, r, &flag, s));
	CHECK(flag);
	for (int i = 0; i < 4; i++)
		empty(&s[i]);
	OK(MPI_Wait(&r[1], s));
	FAILS(MPI_Startall(4, r), MPI_ERR_REQUEST);

	/* More than are remembered */
	for (int i = 0; i < MANY; i++)
		many[i] = started(sent++, 2);
	for (int i = 0; i < MANY; i++)
		CHECK(MPI_Request_fromint(MPI_Request_toint(many[i])) == many[i], "%d", i);
	OK(MPI_Cancel(&many[0]));
	OK(MPI_Wait(&many[0], s)); /* cancelled or not: nobody has received it */
	OK(MPI_Test_cancelled(s, &flag));
	OK(MPI_Waitall(MANY - 1, many + 1, MPI_STATUSES_IGNORE));
	OK(MPI_Send(&flag, 1, MPI_INT, 1, 3, comm));
}

static void take(int n, int from) {
	for (int v; n > 0; n--, from++) {
		OK(MPI_Recv(&v, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE));
		CHECK(v == from, "%d, want %d", v, from);
	}
}

static void receives(void) {
	int told = 5;
	take(4, 0);
	for (int i = 0; i < 4; i++) {
		OK(MPI_Recv(NULL, 0, MPI_INT, 0, 8, comm, MPI_STATUS_IGNORE));
		OK(MPI_Send(&told, 1, MPI_INT, 0, 9, comm));
	}
	take(9, 4);
	int cancelled = -1;
	OK(MPI_Recv(&cancelled, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE));
	take(MANY - (cancelled == 1), 13 + (cancelled == 1));
}

/* A send is cancelled as long as no receive has matched it, also when it is complete, and no other message. */
static void cancels(void) {
	int v = -1, flag = -1;
	MPI_Status s;
	warm();
	if (rank == 0) {
		MPI_Request a = started(1, 5), b = started(2, 5), c = started(3, 6);
		OK(MPI_Cancel(&a));
		OK(MPI_Wait(&a, &s));
		OK(MPI_Test_cancelled(&s, &flag));
		CHECK(flag, "a send that nobody has received is not cancelled");
		OK(MPI_Send(&v, 1, MPI_INT, 1, 7, comm));
		OK(MPI_Recv(&v, 1, MPI_INT, 1, 7, comm, MPI_STATUS_IGNORE));
		OK(MPI_Cancel(&b)); /* it has been received */
		OK(MPI_Wait(&b, &s));
		OK(MPI_Test_cancelled(&s, &flag));
		CHECK(!flag, "a send that was received is cancelled");
		OK(MPI_Wait(&c, &s));
	} else {
		OK(MPI_Recv(&v, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE));
		OK(MPI_Recv(&v, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
		CHECK(v == 2, "%d", v);
		OK(MPI_Recv(&v, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE));
		CHECK(v == 3, "%d", v);
		OK(MPI_Iprobe(0, 5, comm, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag, "a message that was cancelled is there");
		OK(MPI_Send(&v, 1, MPI_INT, 0, 7, comm));
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	warm();
	if (rank == 0)
		sends();
	else if (rank == 1)
		receives();
	cancels();
	MPI_Comm_free(&comm);
	return done();
}
