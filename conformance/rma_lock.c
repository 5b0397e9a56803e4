/* Locks: under exclusive locks a read and a write are atomic; shared locks with flushes overlap. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { times = 50 };
	long *memory, v;
	MPI_Win w;
	OK(MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
	memory[0] = memory[1] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < times; i++) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
		OK(MPI_Get(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, w));
		OK(MPI_Win_flush(0, w));
		v++;
		OK(MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, w));
		OK(MPI_Win_unlock(0, w));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w));
	OK(MPI_Get(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, w));
	OK(MPI_Win_unlock(0, w));
	CHECK(v == (long)times * size, "%ld increments of %d", v, times * size);

	OK(MPI_Win_lock_all(0, w));
	v = rank + 1;
	for (int r = 0; r < size; r++) OK(MPI_Accumulate(&v, 1, MPI_LONG, r, 1, 1, MPI_LONG, MPI_SUM, w));
	OK(MPI_Win_flush_local_all(w));
	v = -1;
	OK(MPI_Win_flush_all(w));
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_sync(w));
	CHECK(memory[1] == (long)size * (size + 1) / 2, "%ld", memory[1]);
	OK(MPI_Win_flush_local(0, w));
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_free(&w));
	return done();
}
