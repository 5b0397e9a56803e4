/* Groups: set operations, ranges, comparison, translation. */
#include "check.h"

static int count(MPI_Group g) {
	int n = -1;
	OK(MPI_Group_size(g, &n));
	return n;
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Group all, a, b, g;
	int result, r[2], range[1][3] = {{0, size - 1, 2}}, evens = (size + 1) / 2;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
	CHECK(count(all) == size, "%d", count(all));
	OK(MPI_Group_range_incl(all, 1, range, &a));
	OK(MPI_Group_range_excl(all, 1, range, &b));
	CHECK(count(a) == evens && count(b) == size - evens, "%d and %d", count(a), count(b));
	OK(MPI_Group_union(a, b, &g));
	OK(MPI_Group_compare(g, all, &result));
	CHECK(result == (size > 2 ? MPI_SIMILAR : MPI_IDENT), "%d", result);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_intersection(a, b, &g));
	CHECK(g == MPI_GROUP_EMPTY || count(g) == 0, "%d", count(g));
	if (g != MPI_GROUP_EMPTY) OK(MPI_Group_free(&g));
	OK(MPI_Group_difference(all, b, &g));
	OK(MPI_Group_compare(g, a, &result));
	CHECK(result == MPI_IDENT, "%d", result);
	OK(MPI_Group_free(&g));
	if (size > 1) {
		OK(MPI_Group_translate_ranks(all, 2, (int[]){0, 1}, a, r));
		CHECK(r[0] == 0 && r[1] == MPI_UNDEFINED, "%d %d", r[0], r[1]);
		OK(MPI_Group_translate_ranks(b, 2, (int[]){0, MPI_PROC_NULL}, all, r));
		CHECK(r[0] == 1 && r[1] == MPI_PROC_NULL, "%d %d", r[0], r[1]);
		OK(MPI_Group_incl(all, 2, (int[]){1, 0}, &g));
		OK(MPI_Group_rank(g, &result));
		CHECK(result == (rank < 2 ? 1 - rank : MPI_UNDEFINED), "%d", result);
		OK(MPI_Group_free(&g));
	}
	MPI_Comm c;
	OK(MPI_Comm_create(MPI_COMM_WORLD, a, &c));
	CHECK((c != MPI_COMM_NULL) == (rank % 2 == 0), "a member is missing, or somebody else is one");
	if (c != MPI_COMM_NULL) OK(MPI_Comm_free(&c));
	if (rank % 2 == 0) {
		OK(MPI_Comm_create_group(MPI_COMM_WORLD, a, 3, &c));
		OK(MPI_Comm_free(&c));
	}
	OK(MPI_Group_free(&a));
	if (b != MPI_GROUP_EMPTY) OK(MPI_Group_free(&b));
	OK(MPI_Group_free(&all));
	CHECK(all == MPI_GROUP_NULL, "a freed group is left");
	return done();
}
