/* Threads start and end: many one after the other, detached ones, ones that end by pthread_exit, and
 * one that is cancelled outside of calls. Each thread makes calls, and ends without telling the
 * library. Finally the main thread ends by pthread_exit, and another thread finalises. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int bad, rank;
static MPI_Win win;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ended;

static void work(int n) {
	int in = -1;
	long one = 1, old = -1;
	MPI_Sendrecv(&n, 1, MPI_INT, 0, n, &in, 1, MPI_INT, 0, n, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
	MPI_Win_flush(0, win);
	if (in != n || old < 0) {
		pthread_mutex_lock(&lock);
		bad++;
		pthread_mutex_unlock(&lock);
	}
}

static void *worker(void *number) {
	int n = (int)(long)number;
	work(n);
	pthread_mutex_lock(&lock);
	ended++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	if (n % 2) pthread_exit(NULL);
	return NULL;
}

static void *sleeper(void *unused) {
	work(1);
	pthread_mutex_lock(&lock);
	ended++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	for (;;) pause();
	return unused;
}

static void wait_for(int number) {
	pthread_mutex_lock(&lock);
	while (ended < number) pthread_cond_wait(&changed, &lock);
	ended = 0;
	pthread_mutex_unlock(&lock);
}

static void *last(void *of) {
	pthread_join(*(pthread_t *)of, NULL);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	if (bad) fprintf(stderr, "rank %d: %d things are wrong\n", rank, bad);
	exit(bad != 0);
}

int main(int argc, char **argv) {
	enum { many = 200 };
	int level;
	long *base;
	pthread_t t[8];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
	*base = 0;
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < many; i++) { /* one after the other */
		pthread_create(&t[0], NULL, worker, (void *)(long)i);
		pthread_join(t[0], NULL);
	}
	wait_for(many);
	for (int i = 0; i < many / 8; i++) { /* several at a time, detached */
		for (int k = 0; k < 8; k++) {
			pthread_create(&t[k], NULL, worker, (void *)(long)k);
			pthread_detach(t[k]);
		}
		wait_for(8);
	}
	pthread_create(&t[0], NULL, sleeper, NULL);
	wait_for(1);
	pthread_cancel(t[0]);
	pthread_join(t[0], NULL);
	MPI_Win_flush_all(win);
	MPI_Win_sync(win);
	if (*base != many + many / 8 * 8 + 1) {
		fprintf(stderr, "rank %d: %ld additions\n", rank, *base);
		bad++;
	}
	static pthread_t self;
	self = pthread_self();
	pthread_create(&t[0], NULL, last, &self);
	pthread_exit(NULL);
}
