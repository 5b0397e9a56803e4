/* A token goes round: every rank adds its number and passes it on. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	int token = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
	if (rank == 0) {
		MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("the token is %d after %d ranks\n", token, size);
	} else {
		MPI_Recv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		token += rank;
		MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return token != size * (size - 1) / 2 && rank == 0;
}
