/* A dynamic window: memory is attached and detached, and accessed by its absolute address. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Win w;
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	MPI_Aint *at = malloc(sizeof *at * (size_t)size), mine;
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int round = 0; round < 3; round++) {
		int n = 100 << (4 * round), *memory = calloc((size_t)n, sizeof *memory), v[2] = {rank, round};
		OK(MPI_Win_attach(w, memory, (MPI_Aint)sizeof *memory * n));
		OK(MPI_Get_address(&memory[n / 2], &mine));
		OK(MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD));
		OK(MPI_Win_fence(0, w));
		OK(MPI_Put(v, 1, MPI_INT, right, at[right], 1, MPI_INT, w));
		OK(MPI_Put(v + 1, 1, MPI_INT, right, MPI_Aint_add(at[right], sizeof(int)), 1, MPI_INT, w));
		OK(MPI_Win_fence(0, w));
		CHECK(memory[n / 2] == left && memory[n / 2 + 1] == round, "%d %d", memory[n / 2], memory[n / 2 + 1]);
		CHECK(MPI_Aint_diff(mine + 4, mine) == 4, "a difference of addresses");
		OK(MPI_Win_detach(w, memory));
		free(memory);
	}
	free(at);
	OK(MPI_Win_free(&w));
	return done();
}
