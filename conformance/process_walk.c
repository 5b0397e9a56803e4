/* A process that has used shared memory in every way, for tools that read all its mappings: with
 * an argument rank 0 prints its process id and all wait until they are killed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG 100000 /* bytes: too long for a cell of a slot, and for one frame */

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	/* Rings, slots and their stages. */
	int other = (rank + 1) % size;
	char *out = malloc(LONG), *in = malloc(LONG);
	memset(out, 'a' + rank, LONG);
	MPI_Sendrecv(out, LONG, MPI_CHAR, other, 1, in, LONG, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (in[LONG - 1] != 'a' + (rank + size - 1) % size)
		fail("the message is not what was sent");
	MPI_Bcast(in, LONG, MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Allreduce(out, in, LONG, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
	if (in[0] != 'a' + size - 1)
		fail("the maximum is wrong");
	MPI_Comm dup;
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Barrier(dup);
	MPI_Comm_free(&dup);

	/* The heap: small and long blocks that are freed or stay allocated. */
	char *block, *mem[3];
	MPI_Win win[3];
	MPI_Alloc_mem(16, MPI_INFO_NULL, &block);
	memset(block, 1, 16);
	for (int i = 0; i < 3; i++) {
		MPI_Aint bytes = i == 0 ? 16 : i == 1 ? 8 << 20 : 400;
		MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem[i], &win[i]);
		MPI_Win_fence(0, win[i]);
		MPI_Put(out, 16, MPI_CHAR, other, bytes - 16, 16, MPI_CHAR, win[i]);
		MPI_Win_fence(0, win[i]);
		if (mem[i][bytes - 1] != 'a' + (rank + size - 1) % size)
			fail("the window has not what was put");
	}
	MPI_Win_free(&win[1]);

	if (argc > 1) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			printf("%d\n", (int)getpid());
			fflush(stdout);
		}
		for (;;)
			pause();
	}
	MPI_Win_free(&win[0]);
	MPI_Win_free(&win[2]);
	MPI_Free_mem(block);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
