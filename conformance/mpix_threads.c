/* Threads with operations of their own: with mpi_win_scope "thread" a flush covers the operations of
 * the calling thread, although all threads use one window (QV-01..QV-05, QV-40, E3-13, E3-14,
 * ENV-10). Threads start and end, and continue what others have left. */
#include "check.h"
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 6, ROUNDS = 40, LONG = 1 << 15 };

static MPI_Win win;
static int to, from;
static int64_t *mem;
static int64_t *bulk;
static int leaves; /* threads end without a flush of their last put (E3-14) */

static void *work(void *number) {
	int n = (int)(intptr_t)number;
	for (int round = 1; round <= ROUNDS; round++) {
		int64_t v = ((int64_t)rank << 40) + ((int64_t)n << 20) + round, got = -1;
		if (n == 0) /* flushes of other threads need not wait for this put */
			OK(MPI_Put(bulk, LONG, MPI_INT64_T, to, THREADS, LONG, MPI_INT64_T, win));
		OK(MPI_Put(&v, 1, MPI_INT64_T, to, n, 1, MPI_INT64_T, win));
		switch (round % 4) {
		case 0: OK(MPI_Win_flush(to, win)); break;
		case 1: OK(MPI_Win_flush_all(win)); break;
		case 2: {
			MPI_Request q;
			OK(MPIX_Rflush(to, win, &q));
			OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
			break;
		}
		default:
			OK(MPIX_Win_order(to, win));
		}
		OK(MPI_Get(&got, 1, MPI_INT64_T, to, n, 1, MPI_INT64_T, win));
		OK(round % 2 ? MPI_Win_flush_local(to, win) : MPI_Win_flush_local_all(win));
		CHECK(got == v, "thread %d, round %d", n, round);
	}
	static int64_t last = 99; /* the thread ends before the put is complete */
	if (leaves) OK(MPI_Put(&last, 1, MPI_INT64_T, to, n, 1, MPI_INT64_T, win));
	return NULL;
}

int main(int argc, char **argv) {
	int provided, flag;
	char text[MPI_MAX_INFO_VAL + 1];
	MPI_Info info, used;
	pthread_t threads[THREADS];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(provided == MPI_THREAD_MULTIPLE);
	to = (rank + 1) % size;
	from = (rank + size - 1) % size;
	bulk = malloc(LONG * sizeof *bulk);
	for (int i = 0; i < LONG; i++) bulk[i] = rank + i;
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_win_scope", "thread");
	OK(MPI_Win_allocate((THREADS + LONG) * 8, 8, info, MPI_COMM_WORLD, &mem, &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	OK(MPI_Win_get_info(win, &used));
	OK(MPI_Info_get(used, "mpi_win_scope", MPI_MAX_INFO_VAL, text, &flag));
	CHECK(flag && strcmp(text, "thread") == 0);
	MPI_Info_free(&used);
	for (int again = 0; again < 4; again++) {
		int single = again == 1 && to != rank; /* an epoch of one target, which MPI_Win_unlock ends */
		leaves = again == 1 || again == 3;
		if (single)
			OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
		else
			OK(MPI_Win_lock_all(0, win));
		if (again == 2) { /* changes to process scope; the next round changes back */
			MPI_Info_set(info, "mpi_win_scope", "process");
			OK(MPI_Win_set_info(win, info));
			MPI_Info_set(info, "mpi_win_scope", "thread");
		}
		if (again == 3) OK(MPI_Win_set_info(win, info));
		for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
		for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
		if (single) /* the end of the epoch completes operations that threads have left */
			OK(MPI_Win_unlock(to, win));
		else
			OK(MPI_Win_unlock_all(win));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		for (int i = 0; i < THREADS; i++) {
			int64_t want = leaves ? 99 : ((int64_t)from << 40) + ((int64_t)i << 20) + ROUNDS;
			CHECK(mem[i] == want, "thread %d: %lld", i, (long long)mem[i]);
		}
		for (int i = 0; i < LONG; i++) {
			if (mem[THREADS + i] != from + i) {
				CHECK(mem[THREADS + i] == from + i, "element %d", i);
				break;
			}
		}
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	/* thread scope does not affect fences */
	int64_t v = 7;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win));
	OK(MPI_Win_fence(0, win));
	CHECK(mem[0] == 7);
	OK(MPI_Win_free(&win));
	MPI_Info_free(&info);
	free(bulk);
	return done();
}
