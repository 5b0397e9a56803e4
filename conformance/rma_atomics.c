/* Accumulate, Get_accumulate, Fetch_and_op and Compare_and_swap of all ranks at once. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { times = 200 };
	long *memory, one = 1, got = -1, sum = 0, all = 0;
	MPI_Win w;
	OK(MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
	memset(memory, 0, 8 * sizeof *memory);
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock_all(0, w));
	for (int i = 0; i < times; i++) {
		OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, w));
		OK(MPI_Win_flush(0, w));
		sum += got;
	}
	MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	long n = (long)times * size;
	CHECK(all == n * (n - 1) / 2, "tickets sum up to %ld, not %ld", all, n * (n - 1) / 2);

	for (int i = 0; i < 20; i++) { /* a lock of a word */
		long free_ = 0, taken = rank + 1;
		do {
			OK(MPI_Compare_and_swap(&taken, &free_, &got, MPI_LONG, 0, 1, w));
			OK(MPI_Win_flush(0, w));
		} while (got != 0);
		OK(MPI_Get(&got, 1, MPI_LONG, 0, 2, 1, MPI_LONG, w));
		OK(MPI_Win_flush(0, w));
		got++;
		OK(MPI_Put(&got, 1, MPI_LONG, 0, 2, 1, MPI_LONG, w));
		OK(MPI_Win_flush(0, w));
		OK(MPI_Compare_and_swap(&free_, &taken, &got, MPI_LONG, 0, 1, w));
		OK(MPI_Win_flush(0, w));
		CHECK(got == taken, "the lock is %ld's, not %ld's", got, taken);
	}
	long v[3] = {rank, -rank, 1}, before[3] = {-1, -1, -1};
	OK(MPI_Get_accumulate(v, 3, MPI_LONG, before, 3, MPI_LONG, 0, 3, 3, MPI_LONG, MPI_SUM, w));
	OK(MPI_Win_flush(0, w));
	CHECK(before[0] == -before[1] && before[2] >= 0 && before[2] < size, "%ld %ld %ld", before[0], before[1], before[2]);
	OK(MPI_Accumulate(&v[0], 1, MPI_LONG, 0, 6, 1, MPI_LONG, MPI_MAX, w));
	OK(MPI_Win_flush_all(w));
	MPI_Barrier(MPI_COMM_WORLD);
	long end[7];
	OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, end, 7, MPI_LONG, 0, 0, 7, MPI_LONG, MPI_NO_OP, w));
	OK(MPI_Win_unlock_all(w));
	long ranks = (long)size * (size - 1) / 2;
	CHECK(end[0] == n && end[1] == 0 && end[2] == 20 * size, "%ld %ld %ld", end[0], end[1], end[2]);
	CHECK(end[3] == ranks && end[4] == -ranks && end[5] == size && end[6] == size - 1, "%ld %ld %ld %ld", end[3], end[4], end[5], end[6]);
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_free(&w));
	return done();
}
