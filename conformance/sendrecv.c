/* Sendrecv and Sendrecv_replace round a ring, and with MPI_PROC_NULL. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int n = 1; n <= 1 << 18; n *= 64) {
		int *out = malloc(sizeof *out * (size_t)n), *in = calloc((size_t)n, sizeof *in);
		for (int i = 0; i < n; i++) out[i] = rank + i;
		MPI_Status s;
		OK(MPI_Sendrecv(out, n, MPI_INT, right, 1, in, n, MPI_INT, left, 1, MPI_COMM_WORLD, &s));
		CHECK(s.MPI_SOURCE == left && in[0] == left && in[n - 1] == left + n - 1, "%d of %d", in[0], n);
		OK(MPI_Sendrecv_replace(in, n, MPI_INT, left, 2, right, 2, MPI_COMM_WORLD, &s));
		CHECK(in[0] == rank && in[n - 1] == rank + n - 1, "%d of %d came back", in[0], n);
		free(out);
		free(in);
	}
	int v = 42, count = -1;
	MPI_Status s;
	OK(MPI_Sendrecv(&v, 1, MPI_INT, MPI_PROC_NULL, 0, &v, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s));
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && count == 0 && v == 42, "source %d tag %d count %d", s.MPI_SOURCE, s.MPI_TAG, count);
#if MPI_VERSION >= 4
	MPI_Request r;
	int in = -1;
	OK(MPI_Isendrecv(&rank, 1, MPI_INT, right, 4, &in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(in == left, "%d", in);
	OK(MPI_Isendrecv_replace(&in, 1, MPI_INT, left, 5, right, 5, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(in == rank, "%d", in);
#endif
	return done();
}
