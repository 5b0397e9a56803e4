/* Prints nothing, and ends without an end of its own: neither does the library. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	exit(0);
}
