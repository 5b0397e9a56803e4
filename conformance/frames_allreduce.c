/*
 * frames_allreduce: rank 0 calls MPI_Allreduce with an operand, or with the argument "result" a
 * result, at an address without memory, which ends the process. The stack at the fault shows the
 * functions between the call and memory.
 */
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
	double here[1] = {1}, sum[1];
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result = argc > 1 && !strcmp(argv[1], "result");
	MPI_Allreduce(rank == 0 && !result ? none : here, rank == 0 && result ? none : sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (;;)
		pause(); /* rank 0 ends the job */
}
