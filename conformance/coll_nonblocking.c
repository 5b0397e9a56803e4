/* Many nonblocking collectives at a time, completed in another order than they were started in. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { many = 20 };
	MPI_Request r[2 * many];
	int in[many], out[many], cast[many];
	for (int i = 0; i < many; i++) {
		in[i] = rank + i;
		cast[i] = rank == i % size ? 11 * i : -1;
		OK(MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[i]));
		OK(MPI_Ibcast(&cast[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &r[many + i]));
	}
	MPI_Request barrier;
	OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
	for (int i = 2 * many - 1; i >= 0; i--) OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
	OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
	for (int i = 0; i < many; i++) {
		CHECK(out[i] == size * (size - 1) / 2 + size * i, "%d in %d", out[i], i);
		CHECK(cast[i] == 11 * i, "%d in %d", cast[i], i);
	}
	return done();
}
