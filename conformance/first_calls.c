/* Many threads make their first call at once. Each thread sleeps until it is admitted, instead of
 * polling. An argument limits the number of sleeps of each thread. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

enum { threads = 128 };
static pthread_barrier_t all;
static long sleeps[threads];

static long slept(void) {
	struct rusage used;
	getrusage(RUSAGE_THREAD, &used);
	return used.ru_nvcsw;
}

static void *work(void *number) {
	int flag;
	pthread_barrier_wait(&all);
	long before = slept();
	OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
	sleeps[(intptr_t)number] = slept() - before;
	pthread_barrier_wait(&all); /* no thread may end earlier and leave its place in Go to another */
	return NULL;
}

int main(int argc, char **argv) {
	int level;
	long most = argc > 1 ? atol(argv[1]) : 6, sum = 0;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	pthread_t t[threads];
	pthread_barrier_init(&all, NULL, threads);
	for (int k = 0; k < threads; k++) CHECK(pthread_create(&t[k], NULL, work, (void *)(intptr_t)k) == 0);
	for (int k = 0; k < threads; k++) pthread_join(t[k], NULL);
	for (int k = 0; k < threads; k++) sum += sleeps[k];
	CHECK(sum <= most * threads, "%d threads sleep %ld times", threads, sum);
	return done();
}
