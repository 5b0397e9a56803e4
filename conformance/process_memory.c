/* Prints the private memory of rank 0 in KiB, of anonymous pages only, so that pages of files that the
 * kernel has not written yet do not count: the pages of the library's file that have been written, nearly all of
 * them by the loader, and the rest. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	int rank;
	double out[2] = {1, 2}, in[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		char line[4096];
		unsigned long from, to;
		long kib, library = 0, rest = 0;
		int in_library = 0;
		FILE *f = fopen("/proc/self/smaps", "r");
		while (f && fgets(line, sizeof line, f))
			if (sscanf(line, "%lx-%lx ", &from, &to) == 2) /* the first line of a mapping ends with its file */
				in_library = strstr(line, "/libmpi_abi.so") != NULL;
			else if (sscanf(line, "Anonymous: %ld kB", &kib) == 1)
				*(in_library ? &library : &rest) += kib;
		printf("%ld %ld\n", library, rest);
	}
	MPI_Finalize();
	return 0;
}
