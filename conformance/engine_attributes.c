/* Prints what a job engine says about the program: an attribute that it does not know is not set. */
#include <mpi.h>
#include <stdio.h>

static void show(const char *name, int keyval) {
	int *value, flag;
	MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
	if (flag)
		printf(" %s %d", name, *value);
	else
		printf(" %s not set", name);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("rank %d:", rank);
	show("appnum", MPI_APPNUM);
	show("universe", MPI_UNIVERSE_SIZE);
	printf("\n");
	MPI_Finalize();
	return 0;
}
