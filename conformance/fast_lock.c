/*
 * fast_lock: processes lock and unlock targets of a window in all ways, at random: one or several at a time,
 * exclusively, shared, and without a claim when nobody else does; by threads of their own windows, in turns with
 * fences and lock_all. Two counters at each target change under exclusive locks only and are always equal
 * (MPI-5, 12.5.3).
 *
 * fast_lock [seed [rounds]]
 */
#include "check.h"
#include <pthread.h>

#define THREADS 2

static int rounds = 400;
static unsigned long seed = 1;

struct worker {
	MPI_Win win;
	unsigned long state;
	long *added; /* by target */
};

static unsigned long draw(struct worker *w, unsigned long n) {
	w->state ^= w->state << 13, w->state ^= w->state >> 7, w->state ^= w->state << 17;
	return w->state % n;
}

/* Reads both counters of a locked target, and adds to them if the lock is exclusive. */
static void use(struct worker *w, int target, int exclusive) {
	long both[2] = {-1, -2};
	MPI_Get(both, 2, MPI_LONG, target, 0, 2, MPI_LONG, w->win);
	MPI_Win_flush(target, w->win);
	CHECK(both[0] == both[1], "target %d: %ld and %ld", target, both[0], both[1]);
	if (!exclusive)
		return;
	for (int i = 0; i < 2; i++) {
		both[i]++;
		MPI_Put(&both[i], 1, MPI_LONG, target, i, 1, MPI_LONG, w->win);
	}
	MPI_Win_flush_local(target, w->win); /* since both ends here */
	w->added[target]++;
}

static void one(struct worker *w) {
	int target = (int)draw(w, (unsigned long)size), exclusive = draw(w, 2) == 0;
	CHECK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w->win) == MPI_SUCCESS);
	use(w, target, exclusive);
	CHECK(MPI_Win_unlock(target, w->win) == MPI_SUCCESS);
}

/* Several targets, in the order of their ranks; given back in another one. */
static void several(struct worker *w) {
	unsigned long chosen = draw(w, 1ul << size), exclusive = draw(w, 1ul << size), first = draw(w, (unsigned long)size);
	for (int t = 0; t < size; t++)
		if (chosen >> t & 1)
			CHECK(MPI_Win_lock(exclusive >> t & 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, w->win) == MPI_SUCCESS);
	for (int t = 0; t < size; t++)
		if (chosen >> t & 1)
			use(w, t, exclusive >> t & 1);
	for (int i = 0; i < size; i++) {
		int t = (int)((first + (unsigned long)i) % (unsigned long)size);
		if (chosen >> t & 1)
			CHECK(MPI_Win_unlock(t, w->win) == MPI_SUCCESS);
	}
}

static void *work(void *worker) {
	struct worker *w = worker;
	for (int i = 0; i < rounds; i++)
		if (draw(w, 3) == 0)
			several(w);
		else
			one(w);
	return NULL;
}

/* Rank 0 alone locks, which it says to the library; before and after that all are in epochs of other kinds. */
static void promised(struct worker *w) {
	int target = size - 1;
	MPI_Win_fence(0, w->win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
	if (rank == 0)
		for (int i = 0; i < 3; i++) {
			CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, i == 1 ? 0 : MPI_MODE_NOCHECK, w->win) == MPI_SUCCESS);
			use(w, target, 1);
			CHECK(MPI_Win_unlock(target, w->win) == MPI_SUCCESS);
		}
	MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win);
	MPI_Win_lock_all(0, w->win);
	use(w, target, 0);
	CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win)) == MPI_ERR_RMA_SYNC);
	CHECK(class_of(MPI_Win_unlock(target, w->win)) == MPI_ERR_RMA_SYNC);
	MPI_Win_unlock_all(w->win);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
	struct worker w[THREADS];
	pthread_t thread[THREADS];
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 1)
		seed = strtoul(argv[1], NULL, 10) | 1;
	if (argc > 2)
		rounds = atoi(argv[2]);
	for (int i = 0; i < THREADS; i++) {
		long *counters;
		MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counters, &w[i].win);
		MPI_Win_set_errhandler(w[i].win, MPI_ERRORS_RETURN);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w[i].win);
		counters[0] = counters[1] = 0;
		MPI_Win_unlock(rank, w[i].win);
		w[i].state = seed + 77 * (unsigned long)(rank * THREADS + i);
		w[i].added = calloc((size_t)size, sizeof(long));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, &w[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		long *sums = calloc((size_t)size, sizeof(long)), both[2];
		promised(&w[i]);
		MPI_Allreduce(w[i].added, sums, size, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		for (int t = 0; t < size; t++) {
			MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w[i].win);
			MPI_Get(both, 2, MPI_LONG, t, 0, 2, MPI_LONG, w[i].win);
			MPI_Win_unlock(t, w[i].win);
			CHECK(both[0] == sums[t] && both[1] == sums[t], "target %d: %ld and %ld of %ld", t, both[0], both[1], sums[t]);
		}
		MPI_Win_free(&w[i].win);
		free(w[i].added);
		free(sums);
	}
	return done();
}
