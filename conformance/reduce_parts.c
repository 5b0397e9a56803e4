/* MPI_Reduce_scatter and MPI_Reduce_scatter_block give what MPI_Reduce and MPI_Scatterv give, also in place, with blocks
 * of no elements, an operation of the program that does not commute, and types with gaps (COL-12). MPI_Reduce_local
 * stores inbuf op inoutbuf, without other processes, and refuses MPI_IN_PLACE (COL-10). */
#include "check.h"

/* The product of matrices {a, b; 0, 1}, of integers modulo 1009: a pair of ints. It does not commute. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
	int *x = in, *y = inout, step = 2;
	MPI_Aint lower, extent;
	MPI_Type_get_extent(*type, &lower, &extent);
	step = (int)(extent / (MPI_Aint)sizeof(int));
	for (int i = 0; i < *n; i++, x += step, y += step) {
		int a = x[0] * y[0] % 1009, b = (x[0] * y[1] + x[1]) % 1009;
		y[0] = a;
		y[1] = b;
	}
}

static void compare(const int *counts, MPI_Datatype type, int step, MPI_Op op, int root, const char *what) {
	int total = 0, equal = 1, displs[16];
	for (int r = 0; r < size; r++) {
		displs[r] = total;
		total += counts[r];
		equal = equal && counts[r] == counts[0];
	}
	int ints = step * (total + 1), mine = counts[rank], *send = malloc(sizeof(int) * ints), *all = malloc(sizeof(int) * ints), *want = malloc(sizeof(int) * ints), *got = malloc(sizeof(int) * ints);
	for (int i = 0; i < ints; i++) send[i] = (7 * i + 13 * rank + 5) % 1009, all[i] = want[i] = -1;
	OK(MPI_Reduce(send, all, total, type, op, root, MPI_COMM_WORLD));
	OK(MPI_Scatterv(all, counts, displs, type, want, mine, type, root, MPI_COMM_WORLD));
	for (int way = 0; way < (equal ? 6 : 3); way++) {
		MPI_Request r;
		for (int i = 0; i < ints; i++) got[i] = -1;
		if (way % 3 == 1) memcpy(got, send, sizeof(int) * ints);
		const void *from = way % 3 == 1 ? MPI_IN_PLACE : send;
		switch (way) {
		case 0: case 1: OK(MPI_Reduce_scatter(from, got, counts, type, op, MPI_COMM_WORLD)); break;
		case 2: OK(MPI_Ireduce_scatter(from, got, counts, type, op, MPI_COMM_WORLD, &r)); OK(MPI_Wait(&r, MPI_STATUS_IGNORE)); break;
		case 3: case 4: OK(MPI_Reduce_scatter_block(from, got, mine, type, op, MPI_COMM_WORLD)); break;
		default: OK(MPI_Ireduce_scatter_block(from, got, mine, type, op, MPI_COMM_WORLD, &r)); OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		}
		int bad = 0;
		for (int i = 0; i < mine * step; i++)
			if (way % 3 != 1 || i % step < 2) bad += got[i] != want[i];
		for (int i = mine * step; way % 3 != 1 && i < ints; i++) bad += got[i] != -1;
		CHECK(bad == 0, "%s, way %d: %d of %d ints differ from a reduction that is scattered", what, way, bad, mine * step);
	}
	free(send), free(all), free(want), free(got);
}

static void local(void) {
	MPI_Op op;
	int a[4] = {2, 3, 5, 7}, b[4] = {11, 13, 17, 19};
	OK(MPI_Op_create(compose, 0, &op));
	MPI_Datatype pair;
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	if (rank == 0) { /* the others are in no call */
		OK(MPI_Reduce_local(a, b, 2, pair, op));
		CHECK(b[0] == 22 && b[1] == 29 && b[2] == 85 && b[3] == 102, "%d %d %d %d", b[0], b[1], b[2], b[3]);
		CHECK(a[0] == 2 && a[3] == 7, "inbuf has changed");
		OK(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_MAX));
		CHECK(b[0] == 22 && b[3] == 102, "%d %d", b[0], b[3]);
		OK(MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM));
		OK(MPI_Reduce_local_c(a, b, (MPI_Count)4, MPI_INT, MPI_SUM));
		CHECK(b[0] == 24 && b[3] == 109, "%d %d", b[0], b[3]);
	}
	FAILS(MPI_Reduce_local(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
	FAILS(MPI_Reduce_local(a, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
	FAILS(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
	FAILS(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
	OK(MPI_Type_free(&pair));
	OK(MPI_Op_free(&op));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Op op;
	MPI_Datatype pair, spaced;
	OK(MPI_Op_create(compose, 0, &op));
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &spaced));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Type_commit(&spaced));
	local();
	for (int root = 0; root < size; root += size > 1 ? size - 1 : 1)
		for (int n = 0; n <= 20000; n = 7 * n + 1) {
			int counts[16];
			for (int shape = 0; shape < 4; shape++) {
				for (int r = 0; r < size; r++) counts[r] = shape == 0 ? n : shape == 1 ? n * (r % 2) : shape == 2 ? n * (r == size - 1) : n + 3 * r;
				compare(counts, MPI_INT, 1, MPI_SUM, root, "sums");
				compare(counts, pair, 2, op, root, "compositions");
				compare(counts, spaced, 3, op, root, "compositions with gaps");
			}
		}
	OK(MPI_Type_free(&pair));
	OK(MPI_Type_free(&spaced));
	OK(MPI_Op_free(&op));
	return done();
}
