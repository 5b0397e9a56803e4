/* Put and Get between fences: each rank to and from its neighbours, and all ranks. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { n = 1000 };
	int *memory, out[n], in[n], right = (rank + 1) % size;
	MPI_Win w;
	OK(MPI_Win_allocate(2 * n * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	for (int i = 0; i < n; i++) {
		memory[n + i] = 7 * rank + i;
		out[i] = rank - i;
	}
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w));
	OK(MPI_Put(out, n, MPI_INT, right, 0, n, MPI_INT, w));
	OK(MPI_Get(in, n, MPI_INT, right, n, n, MPI_INT, w));
	OK(MPI_Win_fence(0, w));
	for (int i = 0; i < n; i++) CHECK(in[i] == 7 * right + i, "%d at %d", in[i], i);
	for (int i = 0; i < n; i++) CHECK(memory[i] == (rank + size - 1) % size - i, "%d at %d", memory[i], i);
	OK(MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
	OK(MPI_Win_free(&w));
	CHECK(w == MPI_WIN_NULL, "a freed window is left");
	return done();
}
