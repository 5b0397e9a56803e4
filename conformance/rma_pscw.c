/* Post, start, complete, wait and test: a target exposes its window to some ranks, which write. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int *memory = calloc((size_t)size, sizeof *memory), flag = 0, others = 0;
	int *ranks = malloc((size_t)size * sizeof *ranks);
	MPI_Win w;
	MPI_Group all, some;
	OK(MPI_Win_create(memory, (MPI_Aint)sizeof *memory * size, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
	for (int target = 0; target < size; target++) {
		others = 0;
		for (int r = 0; r < size; r++)
			if (r != target) ranks[others++] = r;
		if (rank == target) {
			OK(MPI_Group_incl(all, others, ranks, &some));
			OK(MPI_Win_post(some, 0, w));
			if (target % 2) {
				OK(MPI_Win_wait(w));
			} else {
				for (flag = 0; !flag;) OK(MPI_Win_test(w, &flag));
			}
			for (int r = 0; r < size; r++) CHECK(memory[r] == (r == rank ? 0 : 100 * target + r), "%d of %d", memory[r], r);
		} else {
			int v = 100 * target + rank;
			OK(MPI_Group_incl(all, 1, &target, &some));
			OK(MPI_Win_start(some, 0, w));
			OK(MPI_Put(&v, 1, MPI_INT, target, rank, 1, MPI_INT, w));
			OK(MPI_Win_complete(w));
		}
		OK(MPI_Group_free(&some));
	}
	OK(MPI_Group_free(&all));
	OK(MPI_Win_free(&w));
	free(memory);
	free(ranks);
	return done();
}
