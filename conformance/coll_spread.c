/*
 * coll_spread: blocks of collectives may have any displacements (MPI-5, 6.5 to 6.8): in reverse
 * order, before the buffer, with the other buffer in the gaps, and of types that are resized so that
 * consecutive elements would overlap; with small and large counts.
 */
#include "check.h"

#define B 4 /* rows and columns of a block of the matrix */

static int n, me;

/* Blocks of a matrix. The extent of the type is the width of a block: displacements count blocks, and
 * consecutive elements of the type overlap. */
static void matrix(void)
{
	int rows = n * B, cols = 2 * B, r, i, k;
	int *m = calloc(rows * cols, sizeof *m), *counts = malloc(sizeof(int) * n), *displs = malloc(sizeof(int) * n), mine[B * B];
	MPI_Datatype block, resized;
	MPI_Type_vector(B, B, cols, MPI_INT, &block);
	MPI_Type_create_resized(block, 0, B * sizeof(int), &resized);
	MPI_Type_commit(&resized);
	for (r = 0; r < n; r++) {
		counts[r] = 1;
		displs[r] = r * B * 2 + (r & 1); /* the left or right block of each row of blocks */
	}
	for (i = 0; i < B * B; i++)
		mine[i] = 100 * me + i;
	MPI_Gatherv(mine, B * B, MPI_INT, m, counts, displs, resized, 0, MPI_COMM_WORLD);
	for (r = 0; me == 0 && r < n; r++)
		for (i = 0; i < B; i++)
			for (k = 0; k < cols; k++)
				CHECK(m[(r * B + i) * cols + k] == (k / B == (r & 1) ? 100 * r + i * B + k % B : 0));
	for (i = 0; me == 0 && i < rows * cols; i++)
		m[i] *= 2;
	MPI_Scatterv(m, counts, displs, resized, mine, B * B, MPI_INT, 0, MPI_COMM_WORLD);
	for (i = 0; i < B * B; i++)
		CHECK(mine[i] == 2 * (100 * me + i));
	MPI_Allgatherv(mine, B * B, MPI_INT, m, counts, displs, resized, MPI_COMM_WORLD);
	for (r = 0; r < n; r++)
		for (i = 0; i < B; i++)
			CHECK(m[(r * B + i) * cols + (r & 1) * B] == 2 * (100 * r + i * B));
	MPI_Type_free(&block);
	MPI_Type_free(&resized);
	free(m);
	free(counts);
	free(displs);
}

/* Displacements before the buffer, and sent elements in the gaps between received ones. */
static void gaps(void)
{
	int *both = malloc(sizeof(int) * 2 * n), *sd = malloc(sizeof(int) * n), *rd = malloc(sizeof(int) * n), *counts = malloc(sizeof(int) * n);
	int r;
	for (r = 0; r < n; r++) {
		counts[r] = 1;
		sd[r] = 2 * r;
		rd[r] = 2 * r + 1 - n; /* relative to the middle of both */
		both[2 * r] = 100 * me + r;
		both[2 * r + 1] = -1;
	}
	MPI_Alltoallv(both, counts, sd, MPI_INT, both + n, counts, rd, MPI_INT, MPI_COMM_WORLD);
	for (r = 0; r < n; r++)
		CHECK(both[2 * r] == 100 * me + r && both[2 * r + 1] == 100 * r + me);
	for (r = 0; r < n; r++)
		both[2 * r + 1] = -1;
	/* The element that the root sends to itself lies between those that it receives. */
	MPI_Gatherv(both + 2 * me, 1, MPI_INT, both + n, counts, rd, MPI_INT, n - 1, MPI_COMM_WORLD);
	for (r = 0; r < n; r++)
		CHECK(both[2 * r + 1] == (me == n - 1 ? 101 * r : -1));
	/* The displacements of empty blocks are not significant. */
	for (r = 0; r < n; r++) {
		counts[r] = r == 0;
		rd[r] = r == 0 ? 0 : 1 << 30;
	}
	int one = me + 7;
	MPI_Allgatherv(&one, counts[me], MPI_INT, both, counts, rd, MPI_INT, MPI_COMM_WORLD);
	CHECK(both[0] == 7);
	free(both);
	free(sd);
	free(rd);
	free(counts);
}

#if MPI_VERSION >= 4
/* Large counts, with displacements of type MPI_Aint. */
static void large(void)
{
	MPI_Count *counts = malloc(sizeof *counts * n);
	MPI_Aint *displs = malloc(sizeof *displs * n);
	char *places = malloc(n), mine = (char)(me + 1);
	int r;
	for (r = 0; r < n; r++) {
		counts[r] = 1;
		displs[r] = n - 1 - r;
	}
	MPI_Allgatherv_c(&mine, 1, MPI_CHAR, places, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
	for (r = 0; r < n; r++)
		CHECK(places[n - 1 - r] == r + 1);
	MPI_Gatherv_c(&mine, 1, MPI_CHAR, places, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Bcast_c(places, n, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (r = 0; r < n; r++)
		CHECK(places[n - 1 - r] == r + 1);
	free(counts);
	free(displs);
	free(places);
}
#endif

/* Alltoallw: types and displacements in bytes for each rank; some blocks are empty. */
static void types(void)
{
	int *counts = malloc(sizeof(int) * n), *rcounts = malloc(sizeof(int) * n), *displs = malloc(sizeof(int) * n), r;
	MPI_Datatype *st = malloc(sizeof *st * n), *rt = malloc(sizeof *rt * n), pair;
	int *out = malloc(sizeof(int) * 4 * n), *in = malloc(sizeof(int) * 4 * n);
	MPI_Type_vector(2, 1, 2, MPI_INT, &pair); /* the first and the third of three ints */
	MPI_Type_commit(&pair);
	for (r = 0; r < n; r++) {
		int some = (r + me) % 3 != 0;
		counts[r] = some ? 1 : 0;
		rcounts[r] = some ? 2 : 0;
		displs[r] = r * 4 * (int)sizeof(int);
		st[r] = some ? pair : MPI_INT;
		rt[r] = MPI_INT;
		for (int i = 0; i < 4; i++) {
			out[4 * r + i] = 1000 * me + 10 * r + i;
			in[4 * r + i] = -1;
		}
	}
	MPI_Alltoallw(out, counts, displs, st, in, rcounts, displs, rt, MPI_COMM_WORLD);
	for (r = 0; r < n; r++) {
		int some = (r + me) % 3 != 0;
		CHECK(in[4 * r] == (some ? 1000 * r + 10 * me : -1));
		CHECK(in[4 * r + 1] == (some ? 1000 * r + 10 * me + 2 : -1));
		CHECK(in[4 * r + 2] == -1);
	}
	MPI_Type_free(&pair);
	free(counts);
	free(rcounts);
	free(displs);
	free(st);
	free(rt);
	free(out);
	free(in);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	matrix();
	gaps();
	types();
#if MPI_VERSION >= 4
	large();
#endif
	return done();
}
