/* Forms with large counts (X-CNT-01): sizes beyond an int, and contents in the order of these forms. Small
 * forms return MPI_UNDEFINED, or an error, if the value does not fit. */
#include "check.h"

/* envelope checks how a type was made. */
static void envelope(MPI_Datatype t, int line, int integers, int addresses, int counts, int types, int combiner) {
	MPI_Count i = -1, a = -1, c = -1, d = -1;
	int how = -1;
	OK(MPI_Type_get_envelope_c(t, &i, &a, &c, &d, &how));
	CHECK(i == integers && a == addresses && c == counts && d == types && how == combiner,
		"line %d: %d integers, %d addresses, %d counts, %d types, combiner %d", line, (int)i, (int)a, (int)c, (int)d, how);
}

/* contents checks the arguments: integers, counts and one type. */
static void contents(MPI_Datatype t, int line, int n, const int *integers, int m, const MPI_Count *counts, MPI_Datatype old) {
	int i[16] = {0};
	MPI_Count c[16] = {0};
	MPI_Datatype d = MPI_DATATYPE_NULL;
	OK(MPI_Type_get_contents_c(t, 16, 0, 16, 1, i, NULL, c, &d));
	for (int k = 0; k < n; k++) CHECK(i[k] == integers[k], "line %d: integer %d is %d", line, k, i[k]);
	for (int k = 0; k < m; k++) CHECK(c[k] == counts[k], "line %d: count %d is %ld", line, k, (long)c[k]);
	CHECK(d == old, "line %d: another type", line);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	const MPI_Count big = (MPI_Count)3 << 30;
	MPI_Datatype t, u;
	int n = 0, how = 0;
	MPI_Count x = 0, lb = 0, e = 0;

	OK(MPI_Type_contiguous_c(big, MPI_INT, &t));
	OK(MPI_Type_size(t, &n));
	CHECK(n == MPI_UNDEFINED, "size %d", n);
	OK(MPI_Type_size_c(t, &x));
	CHECK(x == 4 * big, "size %ld", (long)x);
	OK(MPI_Type_size_x(t, &x));
	CHECK(x == 4 * big, "size %ld", (long)x);
	OK(MPI_Type_get_extent_c(t, &lb, &e));
	CHECK(lb == 0 && e == 4 * big, "extent %ld", (long)e);
	OK(MPI_Type_get_true_extent_x(t, &lb, &e));
	CHECK(lb == 0 && e == 4 * big, "true extent %ld", (long)e);
	envelope(t, __LINE__, 0, 0, 1, 1, MPI_COMBINER_CONTIGUOUS);
	contents(t, __LINE__, 0, NULL, 1, &big, MPI_INT);
	CHECK(MPI_Type_get_envelope(t, &n, &n, &n, &how) != MPI_SUCCESS, "an envelope without counts");
	OK(MPI_Type_commit(&t));
	MPI_Status s;
	OK(MPI_Status_set_elements_x(&s, t, 2 * big));
	OK(MPI_Get_count(&s, t, &n));
	CHECK(n == 2, "%d elements", n);
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED, "%d ints", n);
	OK(MPI_Get_count_c(&s, MPI_INT, &x));
	CHECK(x == 2 * big, "%ld ints", (long)x);
	OK(MPI_Get_elements(&s, t, &n));
	CHECK(n == MPI_UNDEFINED, "%d basic elements", n);
	OK(MPI_Get_elements_c(&s, t, &x));
	CHECK(x == 2 * big, "%ld basic elements", (long)x);
	OK(MPI_Pack_size(1, t, MPI_COMM_SELF, &n));
	CHECK(n == MPI_UNDEFINED, "%d bytes packed", n);
	OK(MPI_Pack_size_c(1, t, MPI_COMM_SELF, &x));
	CHECK(x >= 4 * big, "%ld bytes packed", (long)x);

	OK(MPI_Type_dup(t, &u)); /* the contents of u still return t after t is freed */
	OK(MPI_Type_free(&t));
	envelope(u, __LINE__, 0, 0, 0, 1, MPI_COMBINER_DUP);
	OK(MPI_Type_get_contents(u, 0, 0, 1, NULL, NULL, &t));
	envelope(t, __LINE__, 0, 0, 1, 1, MPI_COMBINER_CONTIGUOUS);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&u));

	const MPI_Count lengths[] = {2, 1}, places[] = {8, 0}, sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
	OK(MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &t));
	envelope(t, __LINE__, 0, 0, 3, 1, MPI_COMBINER_HVECTOR);
	contents(t, __LINE__, 0, NULL, 3, (const MPI_Count[]){3, 2, 20}, MPI_INT);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_hindexed_c(2, lengths, places, MPI_INT, &t));
	envelope(t, __LINE__, 0, 0, 5, 1, MPI_COMBINER_HINDEXED);
	contents(t, __LINE__, 0, NULL, 5, (const MPI_Count[]){2, 2, 1, 8, 0}, MPI_INT);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_indexed_block_c(2, 1, places, MPI_INT, &t));
	envelope(t, __LINE__, 0, 0, 4, 1, MPI_COMBINER_INDEXED_BLOCK);
	contents(t, __LINE__, 0, NULL, 4, (const MPI_Count[]){2, 1, 8, 0}, MPI_INT);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t));
	envelope(t, __LINE__, 2, 0, 6, 1, MPI_COMBINER_SUBARRAY);
	contents(t, __LINE__, 2, (const int[]){2, MPI_ORDER_C}, 6, (const MPI_Count[]){4, 6, 2, 3, 1, 2}, MPI_INT);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_darray_c(2, 1, 1, (const MPI_Count[]){10}, (const int[]){MPI_DISTRIBUTE_BLOCK}, (const int[]){MPI_DISTRIBUTE_DFLT_DARG}, (const int[]){2}, MPI_ORDER_C, MPI_INT, &t));
	envelope(t, __LINE__, 7, 0, 1, 1, MPI_COMBINER_DARRAY);
	contents(t, __LINE__, 7, (const int[]){2, 1, 1, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_ORDER_C}, 1, (const MPI_Count[]){10}, MPI_INT);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_resized_c(MPI_INT, -4, 16, &t));
	envelope(t, __LINE__, 0, 0, 2, 1, MPI_COMBINER_RESIZED);
	contents(t, __LINE__, 0, NULL, 2, (const MPI_Count[]){-4, 16}, MPI_INT);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_vector(3, 2, 4, MPI_INT, &t)); /* a type of a small form has no large counts */
	envelope(t, __LINE__, 3, 0, 0, 1, MPI_COMBINER_VECTOR);
	contents(t, __LINE__, 3, (const int[]){3, 2, 4}, 0, NULL, MPI_INT);
	FAILS(MPI_Type_get_contents(t, 2, 0, 1, NULL, NULL, NULL), MPI_ERR_ARG);
	OK(MPI_Type_free(&t));
	FAILS(MPI_Type_contiguous_c(-1, MPI_INT, &t), MPI_ERR_COUNT);
	return done();
}
