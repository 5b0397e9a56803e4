/* Processes that end without MPI_Finalize: the whole job ends, with the status of the first such
 * process, and the launcher says why (Halo). */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *ender(void *unused) {
	MPI_Abort(MPI_COMM_WORLD, 11);
	return unused;
}

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "";
	const char *where = argc > 2 ? argv[2] : "recv"; /* the call in which the other ranks are meanwhile */
	int rank, size, v = 0, sum = 0, values[3];
	MPI_Request requests[3];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(where, "waitall") == 0) /* receives that are posted, with the rings open */
		for (int i = 0; i < 200; i++)
			MPI_Sendrecv(&v, 1, MPI_INT, (rank + 1) % size, 6, &sum, 1, MPI_INT, (rank + size - 1) % size, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (strcmp(where, "waitall") == 0)
		for (int i = 0; i < 3; i++)
			MPI_Irecv(&values[i], 1, MPI_INT, (rank + size - 1) % size, 6, MPI_COMM_WORLD, &requests[i]);
	if (rank == size - 1) {
		if (strcmp(how, "thread") == 0) { /* while the main thread is in a call */
			pthread_t t;
			pthread_create(&t, NULL, ender, NULL);
			MPI_Recv(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		if (strncmp(how, "abort:", 6) == 0) MPI_Abort(MPI_COMM_WORLD, atoi(how + 6));
		if (strcmp(how, "exit") == 0) exit(12);
		if (strcmp(how, "zero") == 0) exit(0);
		if (strcmp(how, "return") == 0) return 13;
		if (strcmp(how, "_exit") == 0) _exit(14);
		if (strcmp(how, "abort") == 0) abort();
		if (strcmp(how, "segv") == 0) *(volatile int *)8 = 1;
		if (strcmp(how, "kill") == 0) raise(SIGKILL);
	}
	if (strcmp(where, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(where, "bcast") == 0) MPI_Bcast(&v, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
	if (strcmp(where, "allreduce") == 0) MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (strcmp(where, "recv") == 0) MPI_Recv(&v, 1, MPI_INT, (rank + 1) % size, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (strcmp(where, "waitall") == 0) MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	printf("not reached\n");
	return 0;
}
