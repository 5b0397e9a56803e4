/*
 * message_threads: threads of two ranks or more send each other short messages at once, each pair with a tag
 * or a communicator of its own, in turns that wait for the answer and in bursts, while one thread of each
 * rank makes calls that enter the engine: probes, long messages, and waits for messages that come late.
 *
 * message_threads [turns]
 */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#define THREADS 4
#define BURST 20

static int turns, peer;
static MPI_Comm comms[THREADS];

static void ask(int t, MPI_Comm comm, int tag) {
	for (int i = 0; i < turns; i++) {
		int64_t mine[2] = {i * 100 + t, rank}, theirs[2] = {-1, -1};
		MPI_Status s;
		if (rank < peer) {
			OK(MPI_Send(mine, 2, MPI_INT64_T, peer, tag, comm));
			OK(MPI_Recv(theirs, 2, MPI_INT64_T, peer, tag, comm, &s));
		} else {
			OK(MPI_Recv(theirs, 2, MPI_INT64_T, peer, tag, comm, &s));
			OK(MPI_Send(mine, 2, MPI_INT64_T, peer, tag, comm));
		}
		CHECK(theirs[0] == mine[0] && theirs[1] == peer && s.MPI_SOURCE == peer && s.MPI_TAG == tag, "turn %d of thread %d: %ld from %ld", i, t, (long)theirs[0], (long)theirs[1]);
	}
}

/* Receives of every other burst are posted before they are waited for. */
static void burst(int t, MPI_Comm comm, int tag) {
	int values[BURST];
	MPI_Request r[BURST];
	for (int i = 0; i < turns / BURST; i++) {
		char c = 0;
		if (rank > peer && i % 2 == 0) {
			for (int k = 0; k < BURST; k++)
				OK(MPI_Irecv(&values[k], 1, MPI_INT, peer, tag, comm, &r[k]));
			if (i % 4 == 0)
				OK(MPI_Waitall(BURST, r, MPI_STATUSES_IGNORE));
		}
		for (int k = 0; k < BURST; k++) {
			int v = i * BURST + k;
			if (rank < peer) {
				OK(MPI_Send(&v, 1, MPI_INT, peer, tag, comm));
			} else {
				if (i % 2 != 0)
					OK(MPI_Recv(&v, 1, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE));
				else if (i % 4 != 0)
					for (int flag = 0; !flag;)
						OK(MPI_Test(&r[k], &flag, MPI_STATUS_IGNORE));
				if (i % 2 == 0)
					v = values[k];
				CHECK(v == i * BURST + k, "%d, want %d, in thread %d", v, i * BURST + k, t);
			}
		}
		if (rank < peer)
			OK(MPI_Recv(&c, 1, MPI_CHAR, peer, tag, comm, MPI_STATUS_IGNORE));
		else
			OK(MPI_Send(&c, 1, MPI_CHAR, peer, tag, comm));
	}
}

static void engine(MPI_Comm comm, int tag) {
	static char big[2][30000];
	for (int i = 0; i < turns / 50; i++) {
		int flag;
		MPI_Request r[2];
		MPI_Iprobe(MPI_ANY_SOURCE, 9999, comm, &flag, MPI_STATUS_IGNORE);
		CHECK(!flag);
		if (rank > peer && i % 4 == 0)
			usleep(200);
		OK(MPI_Irecv(big[0], (int)sizeof big[0], MPI_CHAR, peer, tag, comm, &r[0]));
		OK(MPI_Isend(big[1], i % 2 == 0 ? 10 : (int)sizeof big[1], MPI_CHAR, peer, tag, comm, &r[1]));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	}
}

static void *run(void *number) {
	int t = (int)(intptr_t)number;
	switch (t) {
	case 0: ask(t, comms[0], 5); break;
	case 1: burst(t, comms[1], 5); break;
	case 2: ask(t, comms[0], 6); break; /* on the communicator of thread 0 */
	case 3: engine(comms[3], 5); break;
	}
	return NULL;
}

int main(int argc, char **argv) {
	int level;
	turns = argc > 1 ? atoi(argv[1]) : 1000;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	CHECK(level == MPI_THREAD_MULTIPLE);
	peer = rank ^ 1;
	comms[0] = MPI_COMM_WORLD;
	for (int t = 1; t < THREADS; t++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
	if (peer < size) {
		pthread_t threads[THREADS];
		for (int t = 0; t < THREADS; t++)
			pthread_create(&threads[t], NULL, run, (void *)(intptr_t)t);
		for (int t = 0; t < THREADS; t++)
			pthread_join(threads[t], NULL);
	}
	for (int t = 1; t < THREADS; t++)
		MPI_Comm_free(&comms[t]);
	return done();
}
