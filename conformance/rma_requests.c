/* Operations with requests: Rput, Rget, Raccumulate, Rget_accumulate. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int *memory, v[4] = {rank, rank, rank, rank}, got[4] = {-1, -1, -1, -1}, right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Win w;
	MPI_Request r[2];
	OK(MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
	for (int i = 0; i < 8; i++) memory[i] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Rput(v, 4, MPI_INT, right, 0, 4, MPI_INT, w, &r[0]));
	OK(MPI_Raccumulate(v, 4, MPI_INT, right, 4, 4, MPI_INT, MPI_SUM, w, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	v[0] = v[1] = v[2] = v[3] = 1;
	OK(MPI_Win_flush_all(w));
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Rget(got, 4, MPI_INT, rank, 0, 4, MPI_INT, w, &r[0]));
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(got[0] == left && got[3] == left, "%d %d", got[0], got[3]);
	OK(MPI_Rget_accumulate(v, 4, MPI_INT, got, 4, MPI_INT, right, 4, 4, MPI_INT, MPI_SUM, w, &r[0]));
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	CHECK(got[0] == rank && got[3] == rank, "%d %d", got[0], got[3]);
	OK(MPI_Win_unlock_all(w));
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w));
	CHECK(memory[4] == left + 1 && memory[7] == left + 1, "%d %d", memory[4], memory[7]);
	OK(MPI_Win_unlock(rank, w));
	OK(MPI_Win_free(&w));
	return done();
}
