/* Threads of all ranks communicate at once, each with a tag and a communicator of its own. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdint.h>

enum { threads = 4, times = 200 };
static MPI_Comm comms[threads];

static void *work(void *number) {
	int k = (int)(intptr_t)number, right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < times; i++) {
		int out = 1000 * rank + i + 100000 * k, in = -1, sum = -1;
		OK(MPI_Sendrecv(&out, 1, MPI_INT, right, k, &in, 1, MPI_INT, left, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(in == 1000 * left + i + 100000 * k, "thread %d: %d in turn %d", k, in, i);
		if (i % 10 == 0) {
			OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[k]));
			CHECK(sum == size * i, "thread %d: %d in turn %d", k, sum, i);
		}
	}
	return NULL;
}

int main(int argc, char **argv) {
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (level == MPI_THREAD_MULTIPLE) {
		pthread_t t[threads];
		for (int k = 0; k < threads; k++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]));
		for (int k = 0; k < threads; k++) pthread_create(&t[k], NULL, work, (void *)(intptr_t)k);
		for (int k = 0; k < threads; k++) pthread_join(t[k], NULL);
		for (int k = 0; k < threads; k++) OK(MPI_Comm_free(&comms[k]));
	}
	return done();
}
