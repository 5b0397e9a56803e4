/*
 * coll_forms: nonblocking and persistent collectives do what the blocking ones do (MPI-5,
 * 6.12 and 6.13), several at a time, and persistent ones again and again. With LARGE_FORMS the
 * names are those of the forms with large counts.
 */
#include "check.h"

#ifdef LARGE_FORMS
typedef MPI_Count count_type;
typedef MPI_Aint displacement_type;
#else
typedef int count_type, displacement_type;
#endif

#define ROUNDS 3

int main(int argc, char **argv)
{
	int n, me, i, k;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	int *send = malloc(sizeof(int) * n);
	count_type *counts = malloc(sizeof *counts * n);
	displacement_type *displs = malloc(sizeof *displs * n);
	int *r[20];
	MPI_Datatype *types = malloc(sizeof *types * n);
	displacement_type *bytes = malloc(sizeof *bytes * n);
	for (i = 0; i < 20; i++)
		r[i] = malloc(sizeof(int) * n);
	for (i = 0; i < n; i++) {
		send[i] = 100 * me + i;
		counts[i] = 1;
		displs[i] = i;
		bytes[i] = i * (int)sizeof(int);
		types[i] = MPI_INT;
	}
	const MPI_Comm c = MPI_COMM_WORLD;

	for (int form = 0; form < 3; form++) { /* nonblocking, blocking, persistent */
#if MPI_VERSION < 4
		if (form == 2)
			break;
#endif
		MPI_Request q[20];
		k = 0;
		for (i = 0; i < 20; i++) {
			q[i] = MPI_REQUEST_NULL;
			for (int j = 0; j < n; j++)
				r[i][j] = -1;
		}
#if MPI_VERSION >= 4
#define START(name, NAME, ...) (form == 0 ? MPI_I##name(__VA_ARGS__, &q[k]) : form == 1 ? MPI_##NAME(__VA_ARGS__) : MPI_##NAME##_init(__VA_ARGS__, MPI_INFO_NULL, &q[k])), k++
#else
#define START(name, NAME, ...) (form == 0 ? MPI_I##name(__VA_ARGS__, &q[k]) : MPI_##NAME(__VA_ARGS__)), k++
#endif
		int root = n - 1;
		for (i = 0; i < n; i++)
			r[0][i] = me == root ? 7 * i : -1;
		START(barrier, Barrier, c);
		START(bcast, Bcast, r[0], n, MPI_INT, root, c);
		START(gather, Gather, send, 1, MPI_INT, r[1], 1, MPI_INT, root, c);
		START(gatherv, Gatherv, send, 1, MPI_INT, r[2], counts, displs, MPI_INT, root, c);
		START(scatter, Scatter, send, 1, MPI_INT, r[3], 1, MPI_INT, root, c);
		START(scatterv, Scatterv, send, counts, displs, MPI_INT, r[4], 1, MPI_INT, root, c);
		START(allgather, Allgather, send, 1, MPI_INT, r[5], 1, MPI_INT, c);
		START(allgatherv, Allgatherv, send, 1, MPI_INT, r[6], counts, displs, MPI_INT, c);
		START(alltoall, Alltoall, send, 1, MPI_INT, r[7], 1, MPI_INT, c);
		START(alltoallv, Alltoallv, send, counts, displs, MPI_INT, r[8], counts, displs, MPI_INT, c);
		START(alltoallw, Alltoallw, send, counts, bytes, types, r[9], counts, bytes, types, c);
		START(reduce, Reduce, send, r[10], n, MPI_INT, MPI_SUM, root, c);
		START(allreduce, Allreduce, send, r[11], n, MPI_INT, MPI_MAX, c);
		START(reduce_scatter, Reduce_scatter, send, r[12], counts, MPI_INT, MPI_SUM, c);
		START(reduce_scatter_block, Reduce_scatter_block, send, r[13], 1, MPI_INT, MPI_SUM, c);
		START(scan, Scan, send, r[14], n, MPI_INT, MPI_SUM, c);
		START(exscan, Exscan, send, r[15], n, MPI_INT, MPI_SUM, c);
		for (int round = 0; round < (form < 2 ? 1 : ROUNDS); round++) {
			for (i = 0; i < 16 && form == 2; i++)
				for (int j = 0; j < n; j++)
					r[i][j] = -1;
			for (i = 0; i < n && me == root && form == 2; i++)
				r[0][i] = 7 * i + round;
			if (form == 2)
				MPI_Startall(k, q);
			MPI_Waitall(k, q, MPI_STATUSES_IGNORE);
			int sum = 100 * n * (n - 1) / 2, below = 100 * me * (me - 1) / 2;
			for (i = 0; i < n; i++)
				CHECK(r[0][i] == 7 * i + round);
			for (i = 0; i < n; i++) {
				CHECK(me != root || (r[1][i] == 100 * i && r[2][i] == 100 * i && r[10][i] == sum + n * i));
				CHECK(r[5][i] == 100 * i && r[6][i] == 100 * i);
				CHECK(r[7][i] == 100 * i + me && r[8][i] == r[7][i] && r[9][i] == r[7][i]);
				CHECK(r[11][i] == 100 * (n - 1) + i);
				CHECK(r[14][i] == below + 100 * me + (me + 1) * i);
				CHECK(me == 0 || r[15][i] == below + me * i);
			}
			CHECK(r[3][0] == 100 * root + me && r[4][0] == r[3][0]);
			CHECK(r[12][0] == sum + n * me && r[13][0] == r[12][0]);
		}
		for (i = 0; i < k; i++) {
			if (form == 2)
				MPI_Request_free(&q[i]);
			CHECK(q[i] == MPI_REQUEST_NULL);
		}
	}
	for (i = 0; i < 20; i++)
		free(r[i]);
	free(send);
	free(counts);
	free(displs);
	free(types);
	free(bytes);
	return done();
}
