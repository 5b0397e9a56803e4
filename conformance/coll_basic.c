/* Each collective, with values that identify sender and element; derived types among them. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int *a = malloc(sizeof *a * (size_t)(4 * size + 8)), *b = malloc(sizeof *b * (size_t)(4 * size + 8)), last = size - 1;
	for (int root = 0; root < size; root++) {
		a[0] = rank == root ? 5 * root : -1;
		OK(MPI_Bcast(a, 1, MPI_INT, root, MPI_COMM_WORLD));
		CHECK(a[0] == 5 * root, "bcast: %d", a[0]);
		OK(MPI_Gather(&rank, 1, MPI_INT, b, 1, MPI_INT, root, MPI_COMM_WORLD));
		for (int i = 0; i < size && rank == root; i++) CHECK(b[i] == i, "gather: %d at %d", b[i], i);
		for (int i = 0; i < size; i++) a[i] = 100 * rank + i;
		OK(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, root, MPI_COMM_WORLD));
		CHECK(b[0] == 100 * root + rank, "scatter: %d", b[0]);
		OK(MPI_Reduce(&rank, b, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
		CHECK(rank != root || b[0] == size * last / 2, "reduce: %d", b[0]);
	}
	OK(MPI_Allgather(&rank, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < size; i++) CHECK(b[i] == i, "allgather: %d at %d", b[i], i);
	for (int i = 0; i < size; i++) a[i] = 100 * rank + i;
	OK(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < size; i++) CHECK(b[i] == 100 * i + rank, "alltoall: %d from %d", b[i], i);
	OK(MPI_Allreduce(&rank, b, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK(b[0] == last, "allreduce: %d", b[0]);
	OK(MPI_Scan(&rank, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(b[0] == rank * (rank + 1) / 2, "scan: %d", b[0]);
	b[0] = -1;
	OK(MPI_Exscan(&rank, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(b[0] == (rank ? rank * (rank - 1) / 2 : -1), "exscan: %d", b[0]);
	OK(MPI_Reduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(b[0] == 100 * size * last / 2 + size * rank, "reduce_scatter_block: %d", b[0]);
	OK(MPI_Barrier(MPI_COMM_WORLD));

	struct { double value; int where; } in = {(rank * 7) % 5 + 0.5, rank}, out = {-1, -1}, best = {-1, 0};
	for (int i = 0; i < size; i++)
		if ((i * 7) % 5 + 0.5 > best.value) best.value = (i * 7) % 5 + 0.5, best.where = i;
	OK(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
	CHECK(out.value == best.value && out.where == best.where, "maxloc: %g at %d", out.value, out.where);

	/* A column of a matrix is gathered as rows. */
	MPI_Datatype column;
	int m[3][4], rows[64][3];
	for (int i = 0; i < 12; i++) m[i / 4][i % 4] = 100 * rank + i;
	OK(MPI_Type_vector(3, 1, 4, MPI_INT, &column));
	OK(MPI_Type_commit(&column));
	OK(MPI_Gather(&m[0][1], 1, column, rows, 3, MPI_INT, 0, MPI_COMM_WORLD));
	for (int r = 0; r < size && rank == 0; r++)
		for (int i = 0; i < 3; i++) CHECK(rows[r][i] == 100 * r + 4 * i + 1, "column: %d of %d", rows[r][i], r);
	OK(MPI_Type_free(&column));
	free(a);
	free(b);
	return done();
}
