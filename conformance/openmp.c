/*
 * openmp: each thread of a parallel region sends a ring of its own. Without OpenMP there is one;
 * with it there are four, which the environment may bind to cores.
 */
#include <mpi.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

int main(int argc, char **argv) {
	int provided, rank, size, sum = 0, threads = 1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef _OPENMP
	threads = 4;
#pragma omp parallel num_threads(4) reduction(+ : sum)
#endif
	{
		int tag = 0, in = -1;
#ifdef _OPENMP
		tag = omp_get_thread_num();
#endif
		for (int i = 0; i < 200; i++) {
			MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			sum += in;
		}
	}
	if (sum != 200 * threads * ((rank + size - 1) % size)) fprintf(stderr, "rank %d: the sum is %d\n", rank, sum);
	MPI_Finalize();
	return 0;
}
