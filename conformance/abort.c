/* Ends the job: "abort" by MPI_Abort with a status, "error" by a call that fails. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == size - 1) {
		if (argc > 1 && strcmp(argv[1], "error") == 0) MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	MPI_Recv(&rank, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("not reached\n");
	return 0;
}
