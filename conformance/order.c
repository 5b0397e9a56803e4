/* Messages do not overtake each other, with wildcards and without. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { many = 500 };
	if (rank == 0) {
		for (int from = 1; from < size; from++)
			for (int i = 0; i < many; i++) {
				int v = -1;
				MPI_Status s;
				OK(MPI_Recv(&v, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
				CHECK(v == i && s.MPI_TAG == i % 3, "message %d with tag %d from %d, not %d with %d", v, s.MPI_TAG, from, i, i % 3);
			}
		int *next = calloc((size_t)size, sizeof *next);
		for (int i = 0; i < many * (size - 1); i++) {
			int v = -1;
			MPI_Status s;
			OK(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &s));
			CHECK(v == next[s.MPI_SOURCE], "message %d from %d, not %d", v, s.MPI_SOURCE, next[s.MPI_SOURCE]);
			next[s.MPI_SOURCE]++;
		}
		free(next);
	} else {
		for (int i = 0; i < many; i++) OK(MPI_Send(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD));
		for (int i = 0; i < many; i++) OK(MPI_Send(&i, 1, MPI_INT, 0, 9, MPI_COMM_WORLD));
	}
	return done();
}
