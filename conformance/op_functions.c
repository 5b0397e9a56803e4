/*
 * op_functions: operations of the program (MPI-5, 6.9.5): the function gets the datatype
 * that the program has passed, all operands are combined in the order of the ranks if the
 * operation does not commute, in every reduction, and in MPI_Reduce_local.
 */
#include "check.h"

static MPI_Datatype expected;
static int strange;

/* The product of 2x2 matrices, which does not commute. */
static void product(void *in, void *inout, int *len, MPI_Datatype *d)
{
	if (*d != expected)
		strange++;
	long *a = in, *b = inout;
	for (int i = 0; i < *len; i++, a += 4, b += 4) {
		long c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
		memcpy(b, c, sizeof c);
	}
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *d)
{
	if (*d != MPI_DOUBLE)
		strange++;
	for (int i = 0; i < *len; i++)
		((double *)inout)[i] += ((double *)in)[i];
}

#if MPI_VERSION >= 4
static void sum_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *d)
{
	if (*d != MPI_DOUBLE)
		strange++;
	for (MPI_Count i = 0; i < *len; i++)
		((double *)inout)[i] += ((double *)in)[i];
}
#endif

/* Sums of pairs with a gap, of a type with a negative lower bound. */
static void gap(void *in, void *inout, int *len, MPI_Datatype *d)
{
	if (*d != expected)
		strange++;
	MPI_Aint lb, extent;
	MPI_Type_get_extent(*d, &lb, &extent);
	for (int i = 0; i < *len; i++) {
		int *a = (int *)((char *)in + i * extent), *b = (int *)((char *)inout + i * extent);
		b[-1] += a[-1];
		b[1] = b[1] > a[1] ? b[1] : a[1];
	}
}

static void matrix(int r, long m[4])
{
	m[0] = 1;
	m[1] = r + 1;
	m[2] = r % 2;
	m[3] = 1 - r % 2;
}

int main(int argc, char **argv)
{
	int n, me, flag;
	MPI_Op op;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

	long mine[4], want[4] = {1, 0, 0, 1}, upto[4] = {1, 0, 0, 1}, got[4];
	MPI_Type_contiguous(4, MPI_LONG, &expected);
	MPI_Type_commit(&expected);
	MPI_Op_create(product, 0, &op);
	MPI_Op_commutative(op, &flag);
	CHECK(flag == 0);
	int one = 1;
	for (int r = 0; r < n; r++) { /* want = want x matrix(r) */
		long m[4], t[4];
		matrix(r, m);
		memcpy(t, m, sizeof t);
		product(want, t, &one, &expected);
		memcpy(want, t, sizeof t);
		if (r <= me)
			memcpy(upto, t, sizeof t);
	}
	matrix(me, mine);
	MPI_Allreduce(mine, got, 1, expected, op, MPI_COMM_WORLD);
	CHECK(memcmp(got, want, sizeof got) == 0);
	for (int root = 0; root < n; root++) {
		memset(got, 0, sizeof got);
		MPI_Reduce(mine, got, 1, expected, op, root, MPI_COMM_WORLD);
		CHECK(me != root || memcmp(got, want, sizeof got) == 0);
	}
	MPI_Scan(mine, got, 1, expected, op, MPI_COMM_WORLD);
	CHECK(memcmp(got, upto, sizeof got) == 0);
	MPI_Request q;
	MPI_Iallreduce(mine, got, 1, expected, op, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	CHECK(memcmp(got, want, sizeof got) == 0);
	matrix(3, got);
	MPI_Reduce_local(mine, got, 1, expected, op);
	long local[4];
	matrix(3, local);
	product(mine, local, &one, &expected);
	CHECK(memcmp(got, local, sizeof got) == 0);
	MPI_Op_free(&op);
	CHECK(op == MPI_OP_NULL);
	MPI_Type_free(&expected);

	enum { LONG = 5000 };
	static double a[LONG], b[LONG];
	for (int i = 0; i < LONG; i++)
		a[i] = me + i;
	MPI_Op_create(sum, 1, &op);
	MPI_Allreduce(a, b, LONG, MPI_DOUBLE, op, MPI_COMM_WORLD);
	for (int i = 0; i < LONG; i++)
		CHECK(b[i] == n * (n - 1) / 2.0 + (double)n * i);
	MPI_Op_free(&op);
#if MPI_VERSION >= 4
	MPI_Op_create_c(sum_c, 1, &op);
	MPI_Allreduce_c(a, b, LONG, MPI_DOUBLE, op, MPI_COMM_WORLD);
	for (int i = 0; i < LONG; i++)
		CHECK(b[i] == n * (n - 1) / 2.0 + (double)n * i);
	MPI_Op_free(&op);
#endif

	int lengths[2] = {1, 1}, pairs[3 * 10 + 3], sums[3 * 10 + 3];
	MPI_Aint displs[2] = {-(MPI_Aint)sizeof(int), sizeof(int)};
	MPI_Datatype pair;
	MPI_Type_create_hindexed(2, lengths, displs, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	expected = pair;
	MPI_Op_create(gap, 1, &op);
	for (int i = 0; i < 33; i++) {
		pairs[i] = 10 * me + i;
		sums[i] = -1;
	}
	MPI_Allreduce(pairs + 1, sums + 1, 10, pair, op, MPI_COMM_WORLD);
	for (int i = 0; i < 10; i++) {
		CHECK(sums[3 * i] == 10 * n * (n - 1) / 2 + n * 3 * i);
		CHECK(sums[3 * i + 1] == -1);
		CHECK(sums[3 * i + 2] == 10 * (n - 1) + 3 * i + 2);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
	CHECK(strange == 0);

	MPI_Op_commutative(MPI_SUM, &flag);
	CHECK(flag == 1);
	op = MPI_SUM;
	FAILS(MPI_Op_free(&op), MPI_ERR_OP);
	CHECK(op == MPI_SUM);
	struct { double v; int i; } pairv = {me == n / 2 ? -1.0 : me, me}, least;
	MPI_Allreduce(&pairv, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
	CHECK(least.v == -1.0 && least.i == n / 2);
	return done();
}
