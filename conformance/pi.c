/* Pi by the midpoint rule, each rank with its share of the interval. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	long n = argc > 1 ? atol(argv[1]) : 1000000;
	MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	double sum = 0, pi = 0;
	for (long i = rank; i < n; i += size) {
		double x = ((double)i + 0.5) / (double)n;
		sum += 4 / (1 + x * x);
	}
	sum /= (double)n;
	MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) printf("pi is %.10f\n", pi);
	MPI_Finalize();
	return rank == 0 && (pi < 3.1415926 || pi > 3.1415927);
}
