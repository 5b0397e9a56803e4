/*
 * waits: each of five ranks waits forever in another call: for a message, a request, a
 * barrier and a lock; the last one keeps the lock. Before that, ranks print rank and process id.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int rank, x = 0, *base;
	MPI_Request r;
	MPI_Win w;
	MPI_Comm c;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	if (rank == 4) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 4, 0, w);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d %d\n", rank, (int)getpid());
	fflush(stdout);
	if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* waits 0 */
	if (rank == 1) {
		MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE); /* waits 1 */
	}
	if (rank == 2) MPI_Barrier(c); /* waits 2 */
	if (rank == 3) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 4, 0, w); /* waits 3 */
	if (rank == 3) MPI_Win_flush(4, w); /* waits 3 over sockets */
	pause();
	return 0;
}
