/* Makes the error that an argument names; a test reads its message. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define ON(name) if (strcmp(argv[1], name) == 0)

int main(int argc, char **argv) {
	int v[3] = {0}, one[1] = {1}, *volatile at20 = (int *)0x20, *volatile at30 = (int *)0x30;
	MPI_Group g, h;
	MPI_Win w;
	MPI_Init(&argc, &argv);
	if (argc < 2) return 1;
	ON("send") MPI_Send((void *)0x10, 3, MPI_INT, 0, 7, MPI_COMM_WORLD);
	ON("recv") MPI_Recv((void *)0x8, 3, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	ON("null") MPI_Send(NULL, 3, MPI_INT, 0, 7, MPI_COMM_WORLD);
	ON("bcast") MPI_Bcast((void *)0x18, 3, MPI_INT, 0, MPI_COMM_WORLD);
	ON("alltoallv") MPI_Alltoallv(v, one, at20, MPI_INT, v + 1, one, at20, MPI_INT, MPI_COMM_WORLD);
	ON("group") MPI_Comm_group(MPI_COMM_WORLD, &g), MPI_Group_incl(g, 1, at30, &h);
	ON("peer") MPI_Send(v, 3, MPI_INT, 99, 7, MPI_COMM_WORLD);
	ON("tag") MPI_Send(v, 3, MPI_INT, 0, -9, MPI_COMM_WORLD);
	ON("epoch") MPI_Win_create(v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w), MPI_Win_flush(0, w);
	printf("no error\n");
	return 0;
}
