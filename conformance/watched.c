/*
 * watched: a program for valgrind, without errors, or with those that arguments name: memory that is
 * never freed, a read beyond a block, a value that was never set, a send and a receive beyond a
 * block. With "godebug" it prints GODEBUG as the Go runtime has it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 500 };

static int has(int argc, char **argv, const char *what) {
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], what)) return 1;
	return 0;
}

int main(int argc, char **argv) {
	int rank, size, x = 1, y = 0, *v = malloc(2 * n * sizeof *v), *p = malloc(16);
	MPI_Request r;
	MPI_Datatype every;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 2 * n; i++) v[i] = i;
	p[0] = 0;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (y != size) return 1;
	MPI_Sendrecv(v, n, MPI_INT, (rank + 1) % size, 0, v + n, n, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_vector(n / 2, 1, 2, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_Irecv(v, 1, every, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r);
	MPI_Send(v + n, n / 2, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Type_free(&every);
	if (v[2] != 1) return 2;
	if (size == 2) { /* which the sender and the receiver could copy together */
		char *far = malloc(1 << 20);
		if (rank == 0) {
			memset(far, 7, 1 << 20);
			MPI_Send(far, 1 << 20, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
		} else {
			MPI_Recv(far, 1 << 20, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < 1 << 20; i += 1 << 12)
				if (far[i] != 7) return 3;
		}
		free(far);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (has(argc, argv, "read")) x = ((volatile int *)p)[4];
	if (has(argc, argv, "undefined") && ((volatile int *)p)[1] == 77) x = 3;
	if (has(argc, argv, "send")) {
		MPI_Irecv(v, 5, MPI_INT, rank, 2, MPI_COMM_WORLD, &r);
		MPI_Send(p, 5, MPI_INT, rank, 2, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	if (has(argc, argv, "receive")) MPI_Sendrecv(v, 1, MPI_INT, rank, 1, p + 4, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (has(argc, argv, "godebug")) puts(getenv("GODEBUG"));
	if (has(argc, argv, "leak")) p = NULL;
	free(p);
	free(v);
	MPI_Finalize();
	return 0;
}
