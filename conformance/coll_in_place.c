/*
 * coll_in_place: MPI_IN_PLACE of every collective that takes it (MPI-5, chapter 6): the data
 * are in the result buffer, and the arguments of the other buffer are ignored (TRM-09, CST-09).
 */
#include "check.h"

#define N 3 /* elements of a block */

static int n, me;
static const MPI_Datatype NONE = MPI_DATATYPE_NULL;

/* The element i of what rank r sends to rank to. */
static int from(int r, int to, int i) { return 1000 * r + 10 * to + i; }

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	int *all = malloc(sizeof(int) * n * N), mine[N];
	int *counts = malloc(sizeof(int) * n), *displs = malloc(sizeof(int) * n), *bytes = malloc(sizeof(int) * n);
	MPI_Datatype *types = malloc(sizeof(MPI_Datatype) * n);
	for (int r = 0; r < n; r++) {
		counts[r] = N;
		displs[r] = (n - 1 - r) * N; /* in reverse order */
		bytes[r] = displs[r] * (int)sizeof(int);
		types[r] = MPI_INT;
	}

	for (int root = 0; root < n; root++) {
		/* Gather and Scatter, at the root only. */
		for (int i = 0; i < N; i++)
			mine[i] = all[me * N + i] = from(me, 0, i);
		if (me == root)
			MPI_Gather(MPI_IN_PLACE, -1, NONE, all, N, MPI_INT, root, MPI_COMM_WORLD);
		else
			MPI_Gather(mine, N, MPI_INT, NULL, -1, NONE, root, MPI_COMM_WORLD);
		for (int k = 0; me == root && k < n * N; k++)
			CHECK(all[k] == from(k / N, 0, k % N));

		for (int i = 0; i < N; i++)
			all[displs[me] + i] = from(me, 1, i);
		if (me == root)
			MPI_Gatherv(MPI_IN_PLACE, -1, NONE, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
		else
			MPI_Gatherv(all + displs[me], N, MPI_INT, NULL, NULL, NULL, NONE, root, MPI_COMM_WORLD);
		for (int k = 0; me == root && k < n * N; k++)
			CHECK(all[k] == from(n - 1 - k / N, 1, k % N));

		for (int k = 0; k < n * N; k++)
			all[k] = me == root ? from(k / N, 2, k % N) : -1;
		if (me == root)
			MPI_Scatter(all, N, MPI_INT, MPI_IN_PLACE, -1, NONE, root, MPI_COMM_WORLD);
		else
			MPI_Scatter(NULL, -1, NONE, all + me * N, N, MPI_INT, root, MPI_COMM_WORLD);
		for (int i = 0; i < N; i++)
			CHECK(all[me * N + i] == from(me, 2, i));

		for (int k = 0; k < n * N; k++)
			all[k] = me == root ? from(n - 1 - k / N, 3, k % N) : -1;
		if (me == root)
			MPI_Scatterv(all, counts, displs, MPI_INT, MPI_IN_PLACE, -1, NONE, root, MPI_COMM_WORLD);
		else
			MPI_Scatterv(NULL, NULL, NULL, NONE, all + displs[me], N, MPI_INT, root, MPI_COMM_WORLD);
		for (int i = 0; i < N; i++)
			CHECK(all[displs[me] + i] == from(me, 3, i));

		int value[2] = {me, 1};
		if (me == root)
			MPI_Reduce(MPI_IN_PLACE, value, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
		else
			MPI_Reduce(value, NULL, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
		CHECK(me != root || (value[0] == n * (n - 1) / 2 && value[1] == n));
	}

	/* Allgather and Allgatherv. */
	for (int i = 0; i < N; i++)
		all[me * N + i] = from(me, 4, i);
	MPI_Allgather(MPI_IN_PLACE, -1, NONE, all, N, MPI_INT, MPI_COMM_WORLD);
	for (int k = 0; k < n * N; k++)
		CHECK(all[k] == from(k / N, 4, k % N));
	for (int i = 0; i < N; i++)
		all[displs[me] + i] = from(me, 5, i);
	MPI_Allgatherv(MPI_IN_PLACE, -1, NONE, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
	for (int k = 0; k < n * N; k++)
		CHECK(all[k] == from(n - 1 - k / N, 5, k % N));

	/* The three all-to-alls. */
	for (int k = 0; k < n * N; k++)
		all[k] = from(me, k / N, k % N);
	MPI_Alltoall(MPI_IN_PLACE, -1, NONE, all, N, MPI_INT, MPI_COMM_WORLD);
	for (int k = 0; k < n * N; k++)
		CHECK(all[k] == from(k / N, me, k % N));
	for (int r = 0; r < n; r++)
		for (int i = 0; i < N; i++)
			all[displs[r] + i] = from(me, r, i);
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, NONE, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < n; r++)
		for (int i = 0; i < N; i++)
			CHECK(all[displs[r] + i] == from(r, me, i));
	for (int r = 0; r < n; r++)
		for (int i = 0; i < N; i++)
			all[displs[r] + i] = from(me, r, i) + 5;
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, bytes, types, MPI_COMM_WORLD);
	for (int r = 0; r < n; r++)
		for (int i = 0; i < N; i++)
			CHECK(all[displs[r] + i] == from(r, me, i) + 5);

	/* Reductions to all. */
	int value[2] = {me, 1};
	MPI_Allreduce(MPI_IN_PLACE, value, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(value[0] == n * (n - 1) / 2 && value[1] == n);
	value[0] = me;
	value[1] = 1;
	MPI_Scan(MPI_IN_PLACE, value, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(value[0] == me * (me + 1) / 2 && value[1] == me + 1);
	value[0] = me;
	value[1] = 1;
	MPI_Exscan(MPI_IN_PLACE, value, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(me == 0 || (value[0] == me * (me - 1) / 2 && value[1] == me));
	for (int k = 0; k < n * N; k++)
		all[k] = k + me;
	MPI_Reduce_scatter_block(MPI_IN_PLACE, all, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		CHECK(all[i] == n * (me * N + i) + n * (n - 1) / 2);
	for (int k = 0; k < n * N; k++)
		all[k] = k + me;
	MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		CHECK(all[i] == n * (me * N + i) + n * (n - 1) / 2);

	free(all);
	free(counts);
	free(displs);
	free(bytes);
	free(types);
	return done();
}
