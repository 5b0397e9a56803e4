/* Requests of one-sided operations, and others, in every call that completes requests: most
 * are complete when the call that starts them returns. */
#include "check.h"

static MPI_Win w;
static int *memory, right;

static MPI_Request put(int value, int at) {
	static int values[8];
	MPI_Request r = MPI_REQUEST_NULL;
	values[at] = value;
	OK(MPI_Rput(&values[at], 1, MPI_INT, right, at, 1, MPI_INT, w, &r));
	return r;
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int flag = 0, index = -1, n = 0, indices[4], v = -1, sent = 42, seen[4] = {0};
	MPI_Request r[4];
	MPI_Status status, statuses[4];
	right = (rank + 1) % size;
	OK(MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
	for (int i = 0; i < 8; i++) memory[i] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock_all(0, w));

	r[0] = put(1, 0);
	CHECK(r[0] != MPI_REQUEST_NULL);
	CHECK(MPI_Request_fromint(MPI_Request_toint(r[0])) == r[0]);
	OK(MPI_Request_get_status(r[0], &flag, &status));
	CHECK(flag || size > 1, "%d", flag);
	OK(MPI_Wait(&r[0], &status));
	CHECK(r[0] == MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
	OK(MPI_Get_count(&status, MPI_INT, &n));
	CHECK(n == 0, "%d", n);
	OK(MPI_Test_cancelled(&status, &flag));
	CHECK(!flag);

	/* Waitany completes each request once, and ignores null requests. */
	r[0] = put(2, 0), r[1] = MPI_REQUEST_NULL, r[2] = put(3, 2), r[3] = put(4, 3);
	for (int i = 0; i < 3; i++) {
		OK(MPI_Waitany(4, r, &index, &status));
		CHECK(index >= 0 && index < 4 && index != 1 && !seen[index] && r[index] == MPI_REQUEST_NULL, "%d", index);
		if (index >= 0 && index < 4) seen[index] = 1;
	}
	OK(MPI_Waitany(4, r, &index, &status));
	CHECK(index == MPI_UNDEFINED, "%d", index);

	/* Waitsome, Testsome, Testany */
	r[0] = put(5, 0), r[1] = put(6, 1);
	for (int left = 2; left > 0; left -= n) {
		OK(MPI_Waitsome(2, r, &n, indices, statuses));
		CHECK(n > 0, "%d", n);
		if (n <= 0) break;
	}
	CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
	r[0] = put(7, 0);
	for (n = 0; n == 0;) OK(MPI_Testsome(1, r, &n, indices, statuses));
	CHECK(n == 1 && indices[0] == 0 && r[0] == MPI_REQUEST_NULL, "%d", n);
	r[0] = put(8, 0);
	for (flag = 0; !flag;) OK(MPI_Testany(1, r, &index, &flag, &status));
	CHECK(index == 0 && r[0] == MPI_REQUEST_NULL, "%d", index);

	/* Waitall and Testall, alone and among messages. */
	r[0] = put(9, 0), r[1] = put(10, 1);
	OK(MPI_Waitall(2, r, statuses));
	CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL && statuses[1].MPI_SOURCE == MPI_ANY_SOURCE);
	r[0] = put(11, 0);
	for (flag = 0; !flag;) OK(MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE));
	CHECK(r[0] == MPI_REQUEST_NULL);
	OK(MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r[0]));
	r[1] = put(12, 1), r[2] = MPI_REQUEST_NULL;
	OK(MPI_Isend(&sent, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &r[3]));
	OK(MPI_Waitall(4, r, statuses));
	CHECK(v == 42 && statuses[0].MPI_TAG == 3 && statuses[1].MPI_TAG == MPI_ANY_TAG, "%d", v);
	for (int i = 0; i < 4; i++) CHECK(r[i] == MPI_REQUEST_NULL, "%d", i);

	/* MPI_Request_get_status does not free the request. */
	r[0] = put(13, 2), r[1] = put(14, 3);
	for (flag = 0; !flag;) OK(MPI_Request_get_status(r[1], &flag, MPI_STATUS_IGNORE));
	CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
	OK(MPI_Request_free(&r[1])); /* may follow when it says that the operation is complete */
	CHECK(r[1] == MPI_REQUEST_NULL);
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));

	OK(MPI_Win_flush_all(w));
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_sync(w));
	CHECK(memory[0] == 11 && memory[1] == 12 && memory[2] == 13 && memory[3] == 14, "%d %d %d %d", memory[0], memory[1], memory[2], memory[3]);
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_free(&w));
	return done();
}
