/* Persistent requests are started repeatedly; inactive ones count as complete. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int right = (rank + 1) % size, left = (rank + size - 1) % size, out = 0, in = 0, flag = 0;
	MPI_Request r[2];
	MPI_Status s[2];
	OK(MPI_Recv_init(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Send_init(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &r[1]));
	OK(MPI_Wait(&r[0], &s[0]));
	CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE, "an inactive request has a source, %d", s[0].MPI_SOURCE);
	for (int i = 0; i < 100; i++) {
		out = 1000 * rank + i;
		if (i % 2) {
			OK(MPI_Startall(2, r));
		} else {
			OK(MPI_Start(&r[0]));
			OK(MPI_Start(&r[1]));
		}
		OK(MPI_Waitall(2, r, s));
		CHECK(in == 1000 * left + i, "%d in turn %d", in, i);
		CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL, "a request is gone");
	}
	OK(MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE));
	CHECK(flag, "an inactive request is not complete");
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	return done();
}
