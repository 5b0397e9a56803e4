/* World is a program for MPICH: it says where each rank is, passes a number round a ring, and
 * adds up pi as the example cpi does. With an argument it does something else at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>

static void fail(const char *what) {
	fprintf(stderr, "world: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	int rank, size, *universe, *app, flag, token = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm node;
	int local;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &local);
	MPI_Comm_free(&node);

	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	if (rank == 0) {
		token = 1;
		MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		token++;
		MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
	}
	if (rank == 0 && token != size)
		fail("the ring has lost a rank");

	double part = 0, pi;
	const int n = 10000;
	for (int i = rank; i < n; i += size) {
		double x = (i + 0.5) / n;
		part += 4 / (1 + x * x) / n;
	}
	MPI_Allreduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (pi < 3.14159 || pi > 3.14160)
		fail("pi is wrong");

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
	if (!flag || *universe != size)
		fail("the size of the universe is not that of the world");
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
	printf("rank %d of %d app %d with %d on the node\n", rank, size, flag ? *app : -1, local);
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);

	if (!strcmp(what, "names")) {
		char port[MPI_MAX_PORT_NAME];
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		if (rank == 0 && MPI_Publish_name("halo-test", MPI_INFO_NULL, "a-port") != MPI_SUCCESS)
			fail("publish");
		MPI_Barrier(MPI_COMM_WORLD);
		if (MPI_Lookup_name("halo-test", MPI_INFO_NULL, port) != MPI_SUCCESS || strcmp(port, "a-port"))
			fail("lookup");
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0 && MPI_Unpublish_name("halo-test", MPI_INFO_NULL, "a-port") != MPI_SUCCESS)
			fail("unpublish");
		MPI_Barrier(MPI_COMM_WORLD);
		if (MPI_Lookup_name("halo-test", MPI_INFO_NULL, port) == MPI_SUCCESS)
			fail("a name that is gone was found");
	} else if (rank == size - 1 && !strcmp(what, "abort")) {
		MPI_Abort(MPI_COMM_WORLD, 7);
	} else if (rank == size - 1 && !strcmp(what, "kill")) {
		raise(SIGKILL);
	} else if (rank == 0 && !strcmp(what, "cat")) {
		int c;
		while ((c = getchar()) != EOF)
			putchar(c);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
