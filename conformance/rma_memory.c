/* Windows over memory of every kind that C has - malloc, static, stack, mapped, of MPI, and
 * none - are accessed by every operation under every synchronisation, while the target is in
 * MPI and while it is not (RW-01, MEM-02, MEM-06, MEM-07, RC-01..RC-07, RS-01..RS-08). */
#define _DEFAULT_SOURCE
#include "check.h"
#include <stdint.h>
#include <sys/mman.h>

enum { SLOTS = 3, WORDS = 4096, ROUNDS = 12 };

static int64_t fixed[WORDS];

/* The window of each rank: [0] a sum of all ranks, [1] a ticket counter, [2] a lock, then a part for
 * the puts of each origin. */
static MPI_Aint part(int origin) { return SLOTS + (MPI_Aint)origin * ((WORDS - SLOTS) / size); }
static int length(void) { return (WORDS - SLOTS) / size; }

static void one_epoch(MPI_Win win, int target, int round, int64_t *got) {
	int n = length();
	int64_t *data = malloc((size_t)n * sizeof *data), one = 1, old = -1;
	for (int i = 0; i < n; i++) data[i] = (int64_t)rank << 32 | round << 16 | i;
	OK(MPI_Put(data, n, MPI_INT64_T, target, part(rank), n, MPI_INT64_T, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Get(got, n, MPI_INT64_T, target, part(rank), n, MPI_INT64_T, win));
	OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win));
	OK(MPI_Win_flush(target, win));
	for (int i = 0; i < n; i++) {
		if (got[i] != data[i]) {
			CHECK(got[i] == data[i], "round %d, element %d", round, i);
			break;
		}
	}
	int64_t free_ = 0, mine = rank + 1, seen = -1;
	do {
		OK(MPI_Compare_and_swap(&mine, &free_, &seen, MPI_INT64_T, target, 2, win));
		OK(MPI_Win_flush(target, win));
	} while (seen != 0);
	OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, 1, MPI_SUM, win));
	OK(MPI_Win_flush(target, win));
	OK(MPI_Fetch_and_op(&free_, &seen, MPI_INT64_T, target, 2, MPI_REPLACE, win));
	OK(MPI_Win_flush(target, win));
	CHECK(seen == mine, "who holds the lock: %d", (int)seen);
	/* put and get elements of a vector, with requests */
	MPI_Request q[2];
	MPI_Datatype every;
	OK(MPI_Type_vector(n / 2, 1, 2, MPI_INT64_T, &every));
	OK(MPI_Type_commit(&every));
	for (int i = 0; i < n / 2; i++) data[i] = -i - round;
	OK(MPI_Rput(data, n / 2, MPI_INT64_T, target, part(rank), 1, every, win, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	OK(MPI_Win_flush(target, win));
	for (int i = 0; i < n / 2; i++) data[i] = 1;
	OK(MPI_Rget_accumulate(data, n / 2, MPI_INT64_T, got, n / 2, MPI_INT64_T, target, part(rank), 1, every, MPI_SUM, win, &q[0]));
	OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win, &q[1]));
	OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
	for (int i = 0; i < n / 2; i++) {
		if (got[i] != -i - round) {
			CHECK(got[i] == -i - round, "round %d, element %d", round, i);
			break;
		}
	}
	OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, got, n, MPI_INT64_T, target, part(rank), n, MPI_INT64_T, MPI_NO_OP, win));
	OK(MPI_Win_flush_local(target, win));
	CHECK(got[0] == 1 - round, ": %d", (int)got[0]);
	OK(MPI_Type_free(&every));
	free(data);
}

static void work(int64_t *mem, const char *kind) {
	MPI_Win win;
	int64_t *got = malloc(WORDS * sizeof *got);
	memset(mem, 0, WORDS * sizeof *mem);
	OK(MPI_Win_create(mem, WORDS * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	for (int round = 0; round < ROUNDS; round++) {
		int target = (rank + round) % size;
		if (round % 3 == 2 && rank == round % size) {
			/* this rank computes without calling MPI */
			volatile double x = 1;
			for (int i = 0; i < 200000; i++) x = x * 1.0000001 + 1e-9;
		}
		if (round % 2 == 0) {
			OK(MPI_Win_lock(round % 4 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win));
			one_epoch(win, target, round, got);
			OK(MPI_Win_unlock(target, win));
		} else {
			OK(MPI_Win_lock_all(round % 4 == 1 ? MPI_MODE_NOCHECK : 0, win));
			one_epoch(win, target, round, got);
			OK(MPI_Win_sync(win));
			OK(MPI_Win_unlock_all(win));
		}
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
	CHECK(mem[0] == 2 * ROUNDS && mem[1] == ROUNDS && mem[2] == 0, "%s: %d, %d and %d", kind, (int)mem[0], (int)mem[1], (int)mem[2]);
	OK(MPI_Win_unlock(rank, win));

	/* fences, then groups of origins and targets, all to all */
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	for (int t = 0; t < size; t++) {
		int64_t v = 1000 + rank;
		OK(MPI_Put(&v, 1, MPI_INT64_T, t, part(rank), 1, MPI_INT64_T, win));
		OK(MPI_Win_fence(0, win));
	}
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	for (int r = 0; r < size; r++) CHECK(mem[part(r)] == 1000 + r, "%s: from %d: %d", kind, r, (int)mem[part(r)]);
	MPI_Group all;
	OK(MPI_Win_get_group(win, &all));
	OK(MPI_Win_post(all, 0, win));
	OK(MPI_Win_start(all, 0, win));
	int64_t v = 2000 + rank;
	for (int t = 0; t < size; t++) OK(MPI_Put(&v, 1, MPI_INT64_T, t, part(rank) + 1, 1, MPI_INT64_T, win));
	OK(MPI_Win_complete(win));
	int flag = 0;
	if (rank % 2 == 0) {
		OK(MPI_Win_wait(win));
	} else {
		while (!flag) OK(MPI_Win_test(win, &flag));
	}
	for (int r = 0; r < size; r++) CHECK(mem[part(r) + 1] == 2000 + r, "%s: from %d: %d", kind, r, (int)mem[part(r) + 1]);
	OK(MPI_Group_free(&all));
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
	free(got);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int64_t stack[WORDS], *of_mpi;
	work(fixed, "static");
	work(stack, "stack");
	int64_t *heap = malloc(WORDS * sizeof *heap), *other = malloc((WORDS + 1) * sizeof *other);
	work(heap, "malloc");
	work(other + 1, "inside malloc");
	free(heap);
	free(other);
	OK(MPI_Alloc_mem(WORDS * sizeof *of_mpi, MPI_INFO_NULL, &of_mpi));
	work(of_mpi, "MPI_Alloc_mem");
	/* each rank another kind */
	void *mapped = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t *mixed[] = {fixed, mapped, of_mpi, stack};
	work(mixed[rank % 4], "mixed");
	munmap(mapped, WORDS * 8);
	OK(MPI_Free_mem(of_mpi));

	/* a member without memory */
	MPI_Win win;
	int64_t v = 7;
	OK(MPI_Win_create(rank == 0 ? fixed : NULL, rank == 0 ? 8 : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_fence(0, win));
	if (rank == size - 1) OK(MPI_Put(&v, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
	OK(MPI_Put(NULL, 0, MPI_INT64_T, size - 1, 0, 0, MPI_INT64_T, win));
	OK(MPI_Put(&v, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, win));
	OK(MPI_Win_fence(0, win));
	CHECK(rank != 0 || fixed[0] == 7);
	OK(MPI_Win_free(&win));
	return done();
}
