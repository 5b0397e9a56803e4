/* A member whose own arguments of a collective are wrong gets the error, and those that depend on it
 * get an error of its class (ERR-04, Halo). Afterwards the communicator works. */
#include "check.h"

enum { most = 40000 };
static int in[8 * most], out[8 * most];

/* Whether a call has failed as it should: at the rank with wrong arguments, and at others, or not at all
 * where they do not depend on it. */
static void refused(const char *what, int code, int by, int class, int depends) {
	if (code == MPI_SUCCESS) {
		CHECK(rank != by && !depends, "%s has succeeded at rank %d, with wrong arguments of rank %d", what, rank, by);
		return;
	}
	CHECK(class_of(code) == class, "%s: class %d at rank %d, not %d as at rank %d", what, class_of(code), rank, class, by);
}

/* Collectives that are right: short ones are carried out in C where ranks share memory. */
static void works(const char *what) {
	for (int root = 0; root < size; root++) {
		int one = 10 * root + rank, sum = 0, all[16];
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Bcast(&one, 1, MPI_INT, root, MPI_COMM_WORLD));
		CHECK(one == 11 * root, "after %s: %d from %d", what, one, root);
		OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(sum == size * (size - 1) / 2, "after %s: the sum is %d", what, sum);
		OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
		CHECK(all[root] == root, "after %s: %d of %d", what, all[root], root);
		OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
		CHECK(rank != root || sum == size - 1, "after %s: the maximum is %d", what, sum);
		for (int r = 0; r < size; r++) all[r] = 10 * rank + r;
		OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
		CHECK(all[root] == 10 * root + rank, "after %s: %d from %d", what, all[root], root);
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	for (int by = 0; by < size; by++)
		for (int n = 1; n <= most; n *= 200) {
			int w = rank == by, root = size - 1;
			MPI_Request r;
			if (n == 1) /* a member that tells no length takes it for short */
				refused("Allreduce", MPI_Allreduce(in, out, w ? -1 : n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), by, MPI_ERR_COUNT, 1);
			works("Allreduce");
			refused("Allgather", MPI_Allgather(in, n, MPI_INT, out, w ? n + 1 : n, MPI_INT, MPI_COMM_WORLD), by, MPI_ERR_COUNT, 1);
			works("Allgather");
			refused("Alltoall", MPI_Alltoall(in, n, MPI_INT, out, n, w ? MPI_DATATYPE_NULL : MPI_INT, MPI_COMM_WORLD), by, MPI_ERR_TYPE, 1);
			works("Alltoall");
			if (n == 1)
				refused("Bcast", MPI_Bcast(in, n, w ? MPI_DATATYPE_NULL : MPI_INT, root, MPI_COMM_WORLD), by, MPI_ERR_TYPE, by == root);
			works("Bcast");
			refused("Reduce", MPI_Reduce(in, out, n, MPI_INT, w ? MPI_OP_NULL : MPI_SUM, root, MPI_COMM_WORLD), by, MPI_ERR_OP, rank == root);
			works("Reduce");
			refused("Scatter", MPI_Scatter(in, n, MPI_INT, out, w ? -n : n, MPI_INT, root, MPI_COMM_WORLD), by, MPI_ERR_COUNT, by == root);
			works("Scatter");
			int code = MPI_Iallreduce(in, out, n, MPI_INT, w ? MPI_OP_NULL : MPI_SUM, MPI_COMM_WORLD, &r);
			if (code == MPI_SUCCESS) code = MPI_Wait(&r, MPI_STATUS_IGNORE);
			refused("Iallreduce", code, by, MPI_ERR_OP, 1);
			works("Iallreduce");
		}
	return done();
}
