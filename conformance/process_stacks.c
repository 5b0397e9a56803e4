/*
 * process_stacks: threads with the smallest possible stack send, receive and reduce; Go's
 * part of a call has a stack of its own.
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int bad;

static void *calls(void *arg) {
	static double out[4000], in[4000];
	int x = 1, sum = 0, size;
	(void)arg;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	bad += sum != size;
	out[3999] = 5;
	MPI_Sendrecv(out, 4000, MPI_DOUBLE, 0, 0, in, 4000, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	bad += in[3999] != 5;
	return NULL;
}

int main(int argc, char **argv) {
	int provided;
	pthread_t thread;
	pthread_attr_t attributes;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	pthread_attr_init(&attributes);
	bad += pthread_attr_setstacksize(&attributes, 16384) != 0;
	bad += pthread_create(&thread, &attributes, calls, NULL) != 0;
	pthread_join(thread, NULL);
	MPI_Finalize();
	if (bad) fprintf(stderr, "%d things are wrong\n", bad);
	return bad != 0;
}
