/* An operation that does not commute is applied in the order of ranks: affine maps. */
#include "check.h"

typedef struct { long a, b; } map; /* x -> a x + b, modulo a prime */

static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
	(void)type;
	map *f = in, *g = inout;
	for (int i = 0; i < *n; i++) {
		map h = {f[i].a * g[i].a % 10007, (f[i].b * g[i].a + g[i].b) % 10007};
		g[i] = h;
	}
}

static map of(int r, int i) { return (map){3 + 2 * r + i, 5 + r * r + 7 * i}; }

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { n = 300 };
	static map mine[n], got[n], want[n], part[n];
	MPI_Datatype t;
	MPI_Op op;
	int commutes = 1;
	OK(MPI_Type_contiguous(2, MPI_LONG, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Op_create(compose, 0, &op));
	OK(MPI_Op_commutative(op, &commutes));
	CHECK(!commutes, "it commutes");
	for (int i = 0; i < n; i++) {
		mine[i] = of(rank, i);
		want[i] = of(0, i);
	}
	for (int r = 0; r < size; r++) {
		int one = 1;
		if (r > 0) {
			map next[n];
			for (int i = 0; i < n; i++) next[i] = of(r, i);
			int k = n;
			compose(want, next, &k, &t);
			memcpy(want, next, sizeof want);
		}
		if (r == rank) memcpy(part, want, sizeof part);
		(void)one;
	}
	OK(MPI_Allreduce(mine, got, n, t, op, MPI_COMM_WORLD));
	CHECK(memcmp(got, want, sizeof got) == 0, "allreduce: %ld %ld, not %ld %ld", got[0].a, got[0].b, want[0].a, want[0].b);
	for (int root = 0; root < size; root++) {
		OK(MPI_Reduce(mine, got, n, t, op, root, MPI_COMM_WORLD));
		CHECK(rank != root || memcmp(got, want, sizeof got) == 0, "reduce to %d", root);
	}
	OK(MPI_Scan(mine, got, n, t, op, MPI_COMM_WORLD));
	CHECK(memcmp(got, part, sizeof got) == 0, "scan: %ld %ld, not %ld %ld", got[0].a, got[0].b, part[0].a, part[0].b);
	memcpy(got, mine, sizeof got);
	OK(MPI_Reduce_local(got, mine, n, t, op));
	OK(MPI_Op_free(&op));
	CHECK(op == MPI_OP_NULL, "a freed operation is left");
	OK(MPI_Type_free(&t));
	return done();
}
