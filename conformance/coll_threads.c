/* Two threads of a process are in blocking collectives on one communicator at once, which is an
 * error of the program: the second call fails, and has no other effect. Then many threads
 * do so, and each call either fails or has the right result. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdint.h>

enum { calls = 5, crowd = 3, times = 300, whole = 1 << 20 };

static int call(int kind) {
	double one = 1, sum = 0, all[64] = {0};
	int value = rank == 1 ? 4711 : 0, code;
	switch (kind) {
	case 0: return MPI_Barrier(MPI_COMM_WORLD);
	case 1:
		if ((code = MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD)) == MPI_SUCCESS)
			CHECK(value == 4711, "%d", value);
		return code;
	case 2:
		if ((code = MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)) == MPI_SUCCESS)
			CHECK(sum == size, "%g", sum);
		return code;
	case 3:
		if ((code = MPI_Allgather(&one, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD)) == MPI_SUCCESS)
			CHECK(all[size - 1] == 1, "%g", all[size - 1]);
		return code;
	}
	return MPI_Alltoall(all, 1, MPI_DOUBLE, all + 32, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int kinds[2], codes[2], first; /* first: 1 + the thread whose call returned first */

static void *rival(void *number) {
	int k = (int)(intptr_t)number;
	codes[k] = call(kinds[k]);
	pthread_mutex_lock(&lock);
	if (first == 0) first = 1 + k;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Rank 0 makes two calls at once. No other rank calls before one of the two has failed. */
static void clash(int a, int b) {
	int winner;
	if (rank > 0) {
		OK(MPI_Recv(&winner, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(call(winner));
		return;
	}
	pthread_t threads[2];
	kinds[0] = a, kinds[1] = b, first = 0;
	for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, rival, (void *)(intptr_t)k);
	pthread_mutex_lock(&lock);
	while (first == 0) pthread_cond_wait(&changed, &lock);
	int loser = first - 1;
	pthread_mutex_unlock(&lock);
	winner = kinds[1 - loser];
	for (int r = 1; r < size; r++) OK(MPI_Send(&winner, 1, MPI_INT, r, 0, MPI_COMM_WORLD));
	for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
	FAILS(codes[loser], MPI_ERR_OTHER);
	OK(codes[1 - loser]);
}

/* Adds up whole from every rank, plus 1 from each rank that has finished its calls. */
static int sums(int ends, int *ended) {
	int one = whole + ends, sum = 0, code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	*ended = sum % whole;
	if (code == MPI_SUCCESS) CHECK(sum / whole == size, "%d", sum);
	return code;
}

static void *work(void *unused) {
	for (int i = 0, ended; i < times; i++) {
		int code = sums(0, &ended);
		CHECK(code == MPI_SUCCESS || class_of(code) == MPI_ERR_OTHER, "%d", code);
	}
	return unused;
}

int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 1) { /* errors are fatal */
		kinds[0] = 0, kinds[1] = 2;
		if (rank == 0) clash(0, 2);
		else MPI_Recv(&provided, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return 0;
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < calls; i++)
		for (int k = 0; k < calls; k++) clash(i, k);
	pthread_t threads[crowd];
	for (int k = 0; k < crowd; k++) pthread_create(&threads[k], NULL, work, NULL);
	for (int k = 0; k < crowd; k++) pthread_join(threads[k], NULL);
	for (int ended = 0; ended < size;) OK(sums(1, &ended)); /* serves the calls of ranks that are not here yet */
	return done();
}
